internal import URLLoading

/// The target of an operation's content: memory, or the program's stream. The operation's lock protects it.
struct OperationSink {
    private(set) var data = Data()
    private(set) var count: Int64 = 0
    let stream: OutputStream?

    /// Opens the stream, if there is one.
    init(_ stream: OutputStream?) {
        self.stream = stream
        if let stream, stream.streamStatus == .notOpen { stream.open() }
    }

    /// Writes all of the content. A stream that accepts no more bytes is a failure and ends the operation.
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
            guard taken > 0 else { throw .output(stream.failure, written: count) }
            count += Int64(taken)
            rest = rest.dropFirst(taken)
        }
    }

    /// Drops content that does not belong to the new answer. A stream cannot be rewound once it has taken content.
    mutating func startOver() throws(OperationFailure) {
        if stream != nil, count > 0 { throw .changedContent(written: count) }
        data = Data()
        count = 0
    }

    func close() { stream?.close() }
}
