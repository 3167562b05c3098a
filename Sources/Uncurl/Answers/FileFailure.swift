public import URLLoading

/// The failure to put a file at its place. The file is at ``source``.
public struct FileFailure: Error, Sendable {
    /// What is at the place and is not replaced. Of a symbolic link, the link itself counts, not its target.
    @frozen public enum Obstacle: Error, Hashable, Sendable {
        /// A regular file. ``DownloadDestination/Options/removePreviousFile`` allows its replacement.
        case file
        /// A folder.
        case folder
        /// A symbolic link.
        case symbolicLink
        /// A block or character device.
        case device
        /// A named pipe.
        case pipe
        /// A socket.
        case socket
    }

    /// Where the file is.
    public let source: URL
    /// The place that it should have gone to.
    public let destination: URL
    /// An ``Obstacle``, or the file system's error.
    public let underlying: any Error

    /// What is in the way; nil where something else failed.
    public var obstacle: Obstacle? { underlying as? Obstacle }
}

extension FileFailure: LocalizedError, CustomStringConvertible {
    public var description: String {
        let place = destination.isFileURL ? destination.path : destination.absoluteString
        return "the download cannot be put at \(place): \(cause); it lies at \(source.path)"
    }

    public var errorDescription: String? { description }

    /// The cause without the paths.
    var cause: String { obstacle?.description ?? (underlying as NSError).localizedDescription }
}

extension FileFailure.Obstacle: LocalizedError, CustomStringConvertible {
    public var description: String {
        switch self {
        case .file: "a file is there, and the options do not allow its replacement"
        case .folder: "a folder is there, and only a regular file is ever replaced"
        case .symbolicLink: "a symbolic link is there, and only a regular file is ever replaced"
        case .device: "a device is there, and only a regular file is ever replaced"
        case .pipe: "a pipe is there, and only a regular file is ever replaced"
        case .socket: "a socket is there, and only a regular file is ever replaced"
        }
    }

    public var errorDescription: String? { description }
}

/// What ends an operation besides the network and the answer.
@frozen public enum OperationFailure: Error {
    /// The output stream accepts no more bytes. The error is the stream's; nil where the stream is full or closed.
    case output((any Error)?, written: Int64)
    /// The server's content has changed since the pause, and the bytes already in the stream cannot be taken back.
    case changedContent(written: Int64)
}

extension OperationFailure: LocalizedError, CustomStringConvertible {
    public var description: String {
        switch self {
        case .output(let error?, let written):
            "the output stream failed after \(written) bytes: \(error.sentence)"
        case .output(nil, let written): "the output stream is full or closed after \(written) bytes"
        case .changedContent(let written):
            "the server's content has changed since the pause, and \(written) bytes of the old are in the output stream"
        }
    }

    public var errorDescription: String? { description }
}
