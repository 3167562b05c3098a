internal import Foundation

/// A function that waits for its task's end.
@safe enum TaskContinuation: Sendable {
    case data(UnsafeContinuation<(Data, URLResponse), any Error>)
    case file(UnsafeContinuation<(URL, URLResponse), any Error>)
}
