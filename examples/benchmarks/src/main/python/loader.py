"""PyTorch's DataLoader over the pipelines that LoaderBenchmark compares; one line per epoch.

Arguments: a folder with one folder of pictures per class and crop64, crop224 or resize224, or a .csv file
with a header and csv (rows are text in memory, as in DJL); worker processes (0: load in this
process); epochs.
"""

import csv
import multiprocessing
import os
import sys
import time

import torch
import torchvision
from torchvision import transforms



def crops(size):
    """Random crops and flips, as tensors."""
    return [
        transforms.RandomResizedCrop(size),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    ]


PIPELINES = {
    "crop64": crops(64),
    "crop224": crops(224),
    "resize224": [transforms.Resize((224, 224)), transforms.ToTensor()],
}


class Table(torch.utils.data.Dataset):
    """Rows whose last column is the label."""

    def __init__(self, file):
        with open(file, newline="") as rows:
            self.rows = list(csv.reader(rows))[1:]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = torch.tensor([float(value) for value in self.rows[index]])
        return row[:-1], row[-1:]


def cpu_seconds():
    """CPU seconds of this process and its workers."""
    ticks = 0
    for worker in multiprocessing.active_children():
        with open(f"/proc/{worker.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def main():
    folder, pipeline, workers, epochs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    # For this process; DataLoader gives each worker one thread.
    torch.set_num_threads(1)
    data = (
        Table(folder)
        if pipeline == "csv"
        else torchvision.datasets.ImageFolder(folder, transforms.Compose(PIPELINES[pipeline]))
    )
    loader = torch.utils.data.DataLoader(
        data,
        batch_size=32,
        shuffle=True,
        num_workers=workers,
        # Otherwise every epoch would restart its workers, which costs more than the epoch.
        persistent_workers=workers > 0,
    )
    for epoch in range(1, epochs + 1):
        start, start_cpu = time.perf_counter(), cpu_seconds()
        samples = sum(len(labels) for _, labels in loader)
        seconds, cpu = time.perf_counter() - start, cpu_seconds() - start_cpu
        print(
            f"epoch {epoch}: {seconds:.3f} s, {samples / seconds:.1f} samples/s,"
            f" {samples / cpu:.1f} per CPU s",
            flush=True,
        )


if __name__ == "__main__":
    main()
