//! A thread that does jobs one after another.

use std::collections::VecDeque;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use super::jobs;
use super::message::{Answer, Job, Message};
use crate::cmd;
use base::env::Env;

/// The way to a worker.
pub struct Worker {
    waiting: Arc<(Mutex<VecDeque<Job>>, Condvar)>,
}

impl Worker {
    /// Starts a worker that sends its answers there.
    pub fn spawn(env: Env, answers: Sender<Message>) -> Self {
        let waiting = Arc::new((Mutex::new(VecDeque::<Job>::new()), Condvar::new()));
        let queue = Arc::clone(&waiting);
        thread::spawn(move || {
            loop {
                let job = next(&queue);
                let failed = job.clone();
                let (result, said) = cmd::captured(String::new(), || jobs::run(&env, job));
                let answer = result.unwrap_or_else(|e| Answer::Failed {
                    why: format!("{e:#}"),
                    job: Box::new(failed),
                });
                if answers.send(Message::Answer(answer, said)).is_err() {
                    // The viewer has ended.
                    return;
                }
            }
        });
        Self { waiting }
    }

    /// Does a job, in place of older ones that nobody needs any more. Returns how many of those get
    /// no answer.
    pub fn send(&self, job: Job) -> usize {
        let (waiting, wake) = &*self.waiting;
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut dropped = 0;
        waiting.retain(|older| {
            let is_replaced = older.is_replaced_by(&job);
            dropped += usize::from(is_replaced && !matches!(older, Job::Reread { .. }));
            !is_replaced
        });
        waiting.push_back(job);
        wake.notify_one();
        dropped
    }
}

fn next(queue: &(Mutex<VecDeque<Job>>, Condvar)) -> Job {
    let (waiting, wake) = queue;
    let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        match waiting.pop_front() {
            Some(job) => return job,
            None => waiting = wake.wait(waiting).unwrap_or_else(PoisonError::into_inner),
        }
    }
}
