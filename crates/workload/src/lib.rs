//! What tasks do: the program language, the standard loads, rt-app files and replay of a trace.
