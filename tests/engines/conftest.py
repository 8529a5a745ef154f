import pathlib
import sys

# the command under test, its folders and its store, as the tests of the command line have them
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
