internal import Foundation

/// Where a task's content goes.
enum Sink {
    /// There is no answer yet.
    case none
    case memory(Data)
    /// The delegate gets the content, piece by piece.
    case delegate
    case file(DownloadFile)
    case bytes(ByteChannel)
    /// The stream task that the data task has become gets it.
    case stream(StreamLoad)
}

extension Sink {
    /// Returns the whole content for the cache; nil if it is too large, or is not kept in memory.
    func content(for entry: CacheEntry) -> Data? {
        switch self {
        case .memory(let data): data.count <= entry.limit ? data : nil
        case .delegate: entry.copy
        case .none, .file, .bytes, .stream: nil
        }
    }
}
