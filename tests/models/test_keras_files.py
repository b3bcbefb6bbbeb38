"""Files of Keras: what could run code, or read other files, is refused."""

import io
import json
import zipfile

import h5py
import keras
import numpy as np
import pytest

from nn2rules import FormatError, load_model
from nn2rules.models.keras import files as keras_files


@keras.saving.register_keras_serializable("tests")
class Own(keras.layers.Layer):
    """A layer of the user's, which Keras knows."""

    def call(self, x):
        """Answer rows."""
        return x + 1


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the files of a model with many kinds of things in its configuration."""
    inputs = keras.Input((3,), name="x")
    words = keras.Input((1,), name="word", dtype="int32")
    lookup = keras.layers.CategoryEncoding(4, output_mode="one_hot")
    norm = keras.layers.Normalization(mean=[0.0, 1, 2], variance=[1.0, 1, 2])
    both = keras.layers.Concatenate()([norm(inputs), lookup(words)])
    hidden = keras.layers.Dense(
        4,
        activation="relu",
        kernel_initializer=keras.initializers.HeNormal(seed=1),
        kernel_regularizer=keras.regularizers.L2(0.1),
        bias_constraint=keras.constraints.NonNeg(),
    )(both)
    hidden = keras.layers.Activation(keras.activations.elu)(hidden)
    hidden = Own()(keras.layers.Dropout(0.1, seed=2)(hidden) * 2 + 1)
    hidden = keras.ops.maximum(hidden, 0.5)
    outputs = keras.layers.Dense(1, activation="sigmoid")(hidden)
    model = keras.Model([inputs, words], outputs)
    model.compile("adam", loss=lambda y, z: keras.ops.mean(y - z))
    path = tmp_path_factory.mktemp("keras") / "model.keras"
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(files, path):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def test_an_honest_model_is_read(whole, tmp_path):
    model = load_model(written(whole, tmp_path / "model.keras"))
    assert model.count_params() > 0


def named(name, module, **config):
    return {"class_name": name, "module": module, "config": config}


CALL = {"class_name": "function", "module": "keras.utils", "config": "get_file"}


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (named("Popen", "subprocess", args=["x"]), "uses Popen of subprocess"),
        (named("Own", "their_module"), "uses Own of their_module"),
        (named("Own", "keras_hub.layers"), "uses Own of keras_hub.layers"),
        (CALL, "uses get_file of keras.utils"),
        ({**CALL, "module": "builtins", "config": "exec"}, "uses exec of builtins"),
        (named("__lambda__", None, value=["x"]), "has a Lambda layer, which is Python"),
        (named("Lambda", "keras.layers", function="x"), "has a Lambda layer, which is"),
        (named("TFSMLayer", "keras.layers", filepath="x"), "has the layer TFSMLayer"),
        (named("TorchModuleWrapper", "keras.layers"), "layer TorchModuleWrapper, whi"),
        (
            named("StringLookup", "keras.layers", vocabulary="/etc/passwd"),
            "reads its vocabulary from another file, '/etc/passwd'",
        ),
    ],
)
def test_what_is_no_description_is_refused(found, message, whole, tmp_path):
    config = json.loads(whole["config.json"])
    config["config"]["layers"].append({"config": [found]})
    files = {**whole, "config.json": json.dumps(config).encode()}
    with pytest.raises(FormatError, match=message) as error:
        load_model(written(files, tmp_path / "model.keras"))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["../up.txt", "/abs.txt", "model.weights.npz", "x.py"])
def test_odd_members_are_refused(name, whole, tmp_path):
    path = written({**whole, name: b"x"}, tmp_path / "model.keras")
    with pytest.raises(FormatError, match="the archive has an unexpected member"):
        load_model(path)


def weights(fill):
    stream = io.BytesIO()
    with h5py.File(stream, "w") as store:
        fill(store)
    return stream.getvalue()


def linked(store):
    store["x"] = h5py.ExternalLink("other.h5", "/y")


def external(store):
    store.create_dataset("x", (4,), "u1", external=[("/etc/passwd", 0, 4)])


def virtual(store):
    layout = h5py.VirtualLayout((4,), "f8")
    layout[:] = h5py.VirtualSource("other.h5", "y", (4,))
    store.create_virtual_dataset("x", layout)


def bomb(store):
    store.create_dataset("a/x", (1 << 30,), "f8", chunks=(1 << 16,), compression="gzip")


@pytest.mark.parametrize(
    ("fill", "message"),
    [
        (linked, "the weights 'x' are a link to another place"),
        (external, "the weights 'x' are in another file"),
        (virtual, "the weights 'x' are in another file"),
        (bomb, "the weights need 8 GB of memory; nn2rules reads at most 2 GB"),
    ],
)
def test_weights_elsewhere_and_without_end_are_refused(fill, message, whole, tmp_path):
    files = {**whole, "model.weights.h5": weights(fill)}
    with pytest.raises(FormatError, match=message):
        load_model(written(files, tmp_path / "model.keras"))


def test_links_to_itself_end(tmp_path):
    def loop(store):
        store["x"] = np.zeros(3)
        store.create_group("a")["b"] = store["/"]

    with pytest.raises(FormatError, match="damaged"):
        keras_files._refuse_weights("x", weights(loop))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"units": 4', '"units": 300000000'),
        ('"units": 4', '"units": 20000, "x": [{"units": 20000}]'),
        ('"num_tokens": 4', '"num_tokens": 2000000000'),
        ('"batch_shape": [null, 3]', '"batch_shape": [null, 100000, 100000]'),
    ],
)
def test_layers_are_not_built_before_their_size_is_known(
    whole, before, after, tmp_path, monkeypatch
):
    monkeypatch.setattr(keras.saving, "load_model", None)  # Keras is not asked
    text = whole["config.json"].decode()
    assert before in text
    files = whole | {"config.json": text.replace(before, after).encode()}
    with pytest.raises(FormatError, match="weights; nn2rules reads at most 200,"):
        load_model(written(files, tmp_path / "bomb.keras"))
