//! Results: counters, histograms, statistics of a comparison, tables and JSON.
