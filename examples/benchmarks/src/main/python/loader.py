"""PyTorch's DataLoader over the pipelines that LoaderBenchmark compares; one line per epoch.

Arguments: a folder with one folder of pictures per class; crop64 or resize224; worker processes
(0: batches are made where they are used); epochs.
"""

import sys
import time

import torch
import torchvision
from torchvision import transforms

PIPELINES = {
    "crop64": [
        transforms.RandomResizedCrop(64),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    ],
    "resize224": [transforms.Resize((224, 224)), transforms.ToTensor()],
}


def main():
    folder, pipeline, workers, epochs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    # Of this process; DataLoader gives each of its workers one.
    torch.set_num_threads(1)
    pictures = torchvision.datasets.ImageFolder(folder, transforms.Compose(PIPELINES[pipeline]))
    loader = torch.utils.data.DataLoader(
        pictures,
        batch_size=32,
        shuffle=True,
        num_workers=workers,
        # Else every epoch would start its workers anew, which costs more than the epoch.
        persistent_workers=workers > 0,
    )
    for epoch in range(1, epochs + 1):
        start = time.perf_counter()
        samples = sum(len(labels) for _, labels in loader)
        seconds = time.perf_counter() - start
        print(f"epoch {epoch}: {seconds:.3f} s, {samples / seconds:.1f} samples/s", flush=True)


if __name__ == "__main__":
    main()
