//! Questions to clients over HTTP, in revisions with a handshake. Questions go out in the stream that answers the
//! call, and the client sends its answer in a separate request.
//!
//! What always holds:
//! - The id of a question cannot be guessed, works once and only in the conversation that was asked.
//! - At most [`MAX_OPEN_QUESTIONS`] questions are open.
//! - A question is closed when its call is answered, even with an error.

use super::client::{Abilities, ClientMailbox, Question};
use crate::caller::AskError;
use axum::body::{Body, BodyDataStream, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

/// Maximum number of questions that wait for an answer at the same time.
const MAX_OPEN_QUESTIONS: usize = 1024;
/// How often an idle stream sends a comment, so that proxies do not close it.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

type ClientAnswer = Result<Value, AskError>;

struct OpenQuestion {
    conversation: Arc<str>,
    answer: oneshot::Sender<ClientAnswer>,
}

/// The questions that wait for an answer.
#[derive(Default)]
pub(super) struct Questions {
    open: Mutex<HashMap<String, OpenQuestion>>,
}

impl Questions {
    fn open(&self) -> MutexGuard<'_, HashMap<String, OpenQuestion>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a question and returns its id; `None` if too many are open.
    fn register(&self, conversation: &Arc<str>, answer: oneshot::Sender<ClientAnswer>) -> Option<String> {
        let mut open = self.open();
        if open.len() >= MAX_OPEN_QUESTIONS {
            return None;
        }
        let id = format!("{}{}", Uuid::now_v7().simple(), Uuid::now_v7().simple());
        open.insert(id.clone(), OpenQuestion { conversation: Arc::clone(conversation), answer });
        Some(id)
    }

    /// Passes on an answer. Returns false if this conversation was not asked, or if the call has ended.
    pub(super) fn answer(&self, conversation: &str, id: &str, answer: ClientAnswer) -> bool {
        let mut open = self.open();
        let is_asked = open.get(id).is_some_and(|question| *question.conversation == *conversation);
        let question = is_asked.then(|| open.remove(id)).flatten();
        drop(open);
        question.is_some_and(|question| question.answer.send(answer).is_ok())
    }
}

/// Answers a request whose client can be asked. The answer becomes a stream once there is a question.
pub(super) async fn answer_with_questions(
    questions: Arc<Questions>,
    conversation: &str,
    abilities: Abilities,
    mut request: Request,
    next: Next,
) -> Response {
    let conversation: Arc<str> = conversation.into();
    let (mailbox, mut incoming) = mpsc::channel(1);
    request.extensions_mut().insert(ClientMailbox { mailbox, abilities });
    let mut answering: BoxFuture<'static, Response> = Box::pin(next.run(request));
    let (first, rest) = tokio::select! {
        biased;
        response = &mut answering => match is_stream(response.headers()) {
            true => (None, ResponseTail::Streaming(response.into_body().into_data_stream())),
            false => return response,
        },
        Some(question) = incoming.recv() => {
            (Some(question), ResponseTail::Answering(Box::pin(async move { ResponseTail::from_response(answering.await).await })))
        }
    };
    let mut question_stream = QuestionStream { questions, conversation, incoming, open: Vec::new(), rest };
    let first = first.and_then(|question| question_stream.ask(question));
    let events = stream::iter(first)
        .chain(stream::unfold(question_stream, QuestionStream::next))
        .map(Ok::<_, axum::Error>);
    let headers = [
        (CONTENT_TYPE.as_str(), "text/event-stream"),
        (CACHE_CONTROL.as_str(), "no-cache"),
        ("x-accel-buffering", "no"),
    ];
    (StatusCode::OK, headers, Body::from_stream(events)).into_response()
}

fn is_stream(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

fn event(message: &[u8]) -> Bytes {
    [b"data: ", message, b"\n\n"].concat().into()
}

/// The stream that answers a call, with the questions of the call. Dropping it drops its questions.
struct QuestionStream {
    questions: Arc<Questions>,
    conversation: Arc<str>,
    incoming: mpsc::Receiver<Question>,
    open: Vec<String>,
    rest: ResponseTail,
}

impl QuestionStream {
    async fn next(mut self) -> Option<(Bytes, QuestionStream)> {
        loop {
            tokio::select! {
                biased;
                event = self.rest.next() => return event.map(|event| (event, self)),
                Some(question) = self.incoming.recv() => {
                    if let Some(event) = self.ask(question) {
                        return Some((event, self));
                    }
                }
                () = tokio::time::sleep(KEEP_ALIVE) => return Some((Bytes::from_static(b":\n\n"), self)),
            }
        }
    }

    /// Returns the event that asks a question; `None` if too many are open, which drops the question.
    fn ask(&mut self, question: Question) -> Option<Bytes> {
        let Question { ability, params, answer } = question;
        let id = self.questions.register(&self.conversation, answer)?;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": ability.method(), "params": params});
        self.open.push(id);
        Some(event(request.to_string().as_bytes()))
    }
}

impl Drop for QuestionStream {
    fn drop(&mut self) {
        // End the call first, so that it counts as cancelled and not as a call whose question was dropped.
        self.rest = ResponseTail::Ended;
        let mut open = self.questions.open();
        for id in &self.open {
            open.remove(id);
        }
    }
}

/// The rest of the response.
enum ResponseTail {
    /// The response is not ready yet.
    Answering(BoxFuture<'static, ResponseTail>),
    /// The whole response as one event.
    Whole(Bytes),
    /// A stream of events.
    Streaming(BodyDataStream),
    Ended,
}

impl ResponseTail {
    /// Returns the rest of a stream that has already started. An error status can no longer be sent; the stream just
    /// ends.
    async fn from_response(response: Response) -> ResponseTail {
        if is_stream(response.headers()) {
            return ResponseTail::Streaming(response.into_body().into_data_stream());
        }
        let kind = response.headers().get(CONTENT_TYPE);
        if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json")) {
            return ResponseTail::Ended;
        }
        to_bytes(response.into_body(), usize::MAX)
            .await
            .map_or(ResponseTail::Ended, |body| ResponseTail::Whole(event(&body)))
    }

    /// Cancel safe: dropping the future loses no data.
    async fn next(&mut self) -> Option<Bytes> {
        if let ResponseTail::Answering(answering) = self {
            *self = answering.await;
        }
        if let ResponseTail::Streaming(events) = self {
            return events.next().await?.ok();
        }
        match std::mem::replace(self, ResponseTail::Ended) {
            ResponseTail::Whole(event) => Some(event),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_once_and_only_from_the_conversation_that_was_asked() {
        let questions = Questions::default();
        let (answer, mut answered) = oneshot::channel();
        let id = questions.register(&"mine".into(), answer).unwrap();
        assert!(id.len() >= 64);
        assert!(!questions.answer("theirs", &id, Ok(json!(1))));
        assert!(!questions.answer("mine", "another", Ok(json!(2))));
        assert!(answered.try_recv().is_err());
        assert!(questions.answer("mine", &id, Ok(json!(3))));
        assert_eq!(answered.try_recv().unwrap(), Ok(json!(3)));
        assert!(!questions.answer("mine", &id, Ok(json!(4))));
    }

    #[test]
    fn questions_beyond_the_limit_and_answers_to_dropped_questions_are_refused() {
        let questions = Questions::default();
        let conversation: Arc<str> = "mine".into();
        let waiting: Vec<_> = (0..MAX_OPEN_QUESTIONS)
            .map(|_| {
                let (answer, answered) = oneshot::channel();
                (questions.register(&conversation, answer).unwrap(), answered)
            })
            .collect();
        assert!(questions.register(&conversation, oneshot::channel().0).is_none());
        let (id, answered) = waiting.into_iter().next().unwrap();
        drop(answered);
        assert!(!questions.answer("mine", &id, Ok(json!({}))));
        assert!(questions.register(&conversation, oneshot::channel().0).is_some());
    }
}
