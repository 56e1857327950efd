//! Whether the client that started this program is still there to hear answers.

use tokio_util::sync::CancellationToken;

#[cfg(unix)]
const SECOND: std::time::Duration = std::time::Duration::from_secs(1);

/// Ends when nobody reads standard output any more, or when the process that started this one is gone after the end of input. A
/// launcher that ends while its client still speaks takes nothing along.
#[cfg(unix)]
pub(super) fn client_gone()
-> impl FnOnce(CancellationToken) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
    let parent = rustix::process::getppid();
    move |ended| {
        Box::pin(async move {
            let orphaned = async {
                ended.cancelled().await;
                while rustix::process::getppid() == parent {
                    tokio::time::sleep(SECOND).await;
                }
            };
            tokio::select! {
                () = stdout_closed() => {}
                () = orphaned => {}
            }
        })
    }
}

#[cfg(not(unix))]
pub(super) fn client_gone() -> impl FnOnce(CancellationToken) -> std::future::Pending<()> {
    |_| std::future::pending()
}

/// Ends when the other end of standard output is closed; never where that cannot be told.
#[cfg(unix)]
async fn stdout_closed() {
    use std::os::fd::AsFd;
    use tokio::io::Interest;
    use tokio::net::unix::pipe::Sender;
    // Unchecked, because how standard output is written to is not for this to decide; nothing is ever written here.
    if let Ok(output) = std::io::stdout().as_fd().try_clone_to_owned()
        && let Ok(output) = Sender::from_owned_fd_unchecked(output)
        && output.ready(Interest::ERROR).await.is_ok()
    {
        return;
    }
    std::future::pending().await
}
