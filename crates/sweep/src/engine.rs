//! What runs the chunks: the cores of this computer, or something elsewhere that has the same shape.

use crate::chunk::Chunk;
use crate::error::Error;
use crate::plan::Plan;
use crate::row::Row;
use crate::work::{Work, run_work};
use lab::{Clock, Nanos, Sources};
use rayon::ThreadPoolBuilder;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

/// A chunk that has been run.
#[derive(Clone, PartialEq, Debug)]
pub struct Finished {
    /// Its place among the chunks.
    pub chunk: usize,
    /// A row for each of its runs.
    pub rows: Vec<Row>,
    /// How long the worker was at it, where it has a clock.
    pub took: Option<Nanos>,
}

/// Runs chunks and hands their rows over as they come: all that a sweep wants of whoever has the cores.
pub trait Engine {
    /// Runs the chunks, the first ones first, as many at a time as there are workers. `finished` is called on
    /// this thread once for each as it ends, and with nothing ten times a second, to be asked whether to go
    /// on; when it breaks, whatever is under way is given up.
    ///
    /// # Errors
    /// No worker can be had, or none is left. A run that fails is a row, not an error.
    fn map(
        &self,
        plan: &Plan,
        chunks: &[Chunk],
        finished: &mut dyn FnMut(Option<Finished>) -> ControlFlow<()>,
    ) -> Result<(), Error>;

    /// How many chunks it runs at a time.
    fn workers(&self) -> usize;

    /// The files that experiments name, as its workers see them.
    fn files(&self) -> &dyn Sources;
}

/// All cores of this computer.
pub struct Local<'f> {
    files: &'f (dyn Sources + Sync),
    workers: usize,
    clock: Option<Clock>,
}

impl<'f> Local<'f> {
    /// As many workers as there are cores for this process.
    #[must_use]
    pub fn new(files: &'f (dyn Sources + Sync)) -> Local<'f> {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Local { files, workers: cores, clock: None }
    }

    /// So many workers, one at least.
    #[must_use]
    pub fn with_workers(self, workers: usize) -> Local<'f> {
        Local { workers: workers.max(1), ..self }
    }

    /// With a clock, by which chunks are made as long as they should be.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Local<'f> {
        Local { clock: Some(clock), ..self }
    }
}

impl Engine for Local<'_> {
    fn map(
        &self,
        plan: &Plan,
        chunks: &[Chunk],
        finished: &mut dyn FnMut(Option<Finished>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        const PATIENCE: Duration = Duration::from_millis(100);
        let pool = ThreadPoolBuilder::new()
            .num_threads(self.workers)
            .build()
            .map_err(|error| Error::Engine { engine: "local".to_owned(), problem: error.to_string() })?;
        let stop = Arc::new(AtomicBool::new(false));
        // Rows that nobody has taken yet are never more than a chunk for each worker.
        let (sender, receiver) = sync_channel(self.workers);
        pool.in_place_scope_fifo(|scope| {
            for (number, chunk) in chunks.iter().enumerate() {
                let (sender, stop) = (sender.clone(), &stop);
                scope.spawn_fifo(move |_| {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let began = self.clock.map(|clock| clock());
                    let work: Vec<Work> = chunk.runs.iter().map(|run| plan.work(*run)).collect();
                    let rows = run_work(&work, self.files, stop);
                    let took = self.clock.zip(began).map(|(clock, began)| clock().saturating_sub(began));
                    // Nobody takes it: the sweep was stopped.
                    let _ = sender.send(Finished { chunk: number, rows, took });
                });
            }
            drop(sender);
            loop {
                let event = match receiver.recv_timeout(PATIENCE) {
                    Ok(done) => Some(done),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                if finished(event).is_break() {
                    stop.store(true, Ordering::Relaxed);
                    break;
                }
            }
            drop(receiver);
        });
        Ok(())
    }

    fn workers(&self) -> usize {
        self.workers
    }

    fn files(&self) -> &dyn Sources {
        self.files
    }
}
