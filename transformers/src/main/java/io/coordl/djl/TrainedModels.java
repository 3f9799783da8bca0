package io.coordl.djl;

import ai.djl.BaseModel;
import ai.djl.training.Trainer;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.checkpoint.AgentCheckpoints;
import io.coordl.pipeline.LibraryField;
import io.coordl.pipeline.Services;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** {@code Trainer.step}, after which the agent may take a checkpoint. */
public final class TrainedModels implements LibraryHooks {
  private final AgentCheckpoints checkpoints;
  private final LibraryField<Object> modelDir;
  private final LibraryField<Object> inputData;

  /** For the loader of a library that fits. */
  public TrainedModels(Class<?> declaring, Services services) throws NoSuchFieldException {
    this.checkpoints = Objects.requireNonNull(services.checkpoints());
    this.modelDir = LibraryField.of(BaseModel.class, "modelDir");
    this.inputData = LibraryField.of(BaseModel.class, "inputData");
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    if (!(((Trainer) self).getModel() instanceof BaseModel model)) {
      return null;
    }
    String name = Objects.requireNonNullElse(model.getName(), "model");
    return InterceptedCall.after(
        own -> {
          checkpoints.stepped(model, name, directory -> save(model, directory));
          return own;
        });
  }

  /** {@link SavedModels} takes it from there; to the program, the model was not saved. */
  private void save(BaseModel model, Path directory) throws IOException {
    Object before = modelDir.get(model);
    Object input = inputData.get(model);
    try {
      model.save(directory, null);
    } finally {
      modelDir.set(model, before);
      inputData.set(model, input);
    }
  }
}
