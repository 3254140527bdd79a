//! Work without the GIL that Ctrl-C stops.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// How often Python is asked whether a signal came.
const PATIENCE: Duration = Duration::from_millis(50);

/// Does the work on a thread of its own, while this one looks after signals. When one raises (Ctrl-C), `stop`
/// is set, upon which the work has to end soon, and the exception is raised.
pub fn detached<T: Send>(
    py: Python<'_>,
    stop: &Arc<AtomicBool>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    py.detach(|| {
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel(1);
            scope.spawn(move || sender.send(work()));
            loop {
                match receiver.recv_timeout(PATIENCE) {
                    Ok(done) => return Ok(done),
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(raised) = Python::attach(|py| py.check_signals()) {
                            stop.store(true, Ordering::Relaxed);
                            return Err(raised);
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(PyRuntimeError::new_err("a fault of schedlab; standard error says more"));
                    }
                }
            }
        })
    })
}
