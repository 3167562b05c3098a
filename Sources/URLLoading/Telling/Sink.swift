internal import Foundation

/// Where a task's content goes.
enum Sink {
    /// There is no answer yet.
    case none
    case memory(Data)
    /// To the delegate, piece by piece.
    case delegate
    case file(DownloadFile)
    case bytes(ByteChannel)
    /// To a stream task that the answer has become.
    case stream(StreamLoad)
}
