mod lab;
mod thread;
