internal import URLLoading

/// Where an operation's content goes: memory, or a stream of the user's. On the session's delegate queue alone.
struct OperationSink {
    private(set) var data = Data()
    private(set) var count: Int64 = 0
    let stream: OutputStream?

    /// Opens the stream, if there is one.
    init(_ stream: OutputStream?) {
        self.stream = stream
        if let stream, stream.streamStatus == .notOpen { stream.open() }
    }

    /// All of it, or a failure: a stream that takes nothing more ends the operation.
    mutating func write(_ content: Data) throws(OperationFailure) {
        guard let stream else {
            data.append(content)
            count += Int64(content.count)
            return
        }
        var rest = content
        while !rest.isEmpty {
            let taken = unsafe rest.withUnsafeBytes { bytes in
                guard let base = unsafe bytes.bindMemory(to: UInt8.self).baseAddress else { return 0 }
                return unsafe stream.write(base, maxLength: bytes.count)
            }
            guard taken > 0 else { throw .output(stream.streamError, written: count) }
            count += Int64(taken)
            rest = rest.dropFirst(taken)
        }
    }

    /// Content that turned out to be another's is let go of. A stream cannot be rewound, unless it has taken nothing.
    mutating func startOver() throws(OperationFailure) {
        if stream != nil, count > 0 { throw .changedContent(written: count) }
        data = Data()
        count = 0
    }

    func close() { stream?.close() }
}
