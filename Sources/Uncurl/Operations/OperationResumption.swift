internal import Foundation
internal import Synchronization
internal import URLLoading
internal import UncurlSemantics

/// Decides what an operation does with the head of an answer, the first one or one after a pause.
extension HTTPRequestOperation {
    /// - Parameter response: nil for an answer that is not HTTP, such as a file. It is always the whole content.
    /// - Returns: false if the task must stop: because the whole content must be requested (`asksAgain`), or
    ///   because the output stream has already received other content (`failure`).
    func receive(_ response: HTTPURLResponse?) -> Bool {
        let held = sink.withLock { $0?.count ?? 0 }
        guard held > 0 else {
            sink.withLock { $0 = OperationSink(outputStream) }
            if let response { facts.withLock { $0.begin(response) } }
            return true
        }
        guard let response else { return startOver() }
        let (validator, total) = facts.withLock { ($0.validator ?? "", $0.total) }
        switch ResumeRule.decide(
            status: response.statusCode,
            contentCoding: response.value(forHTTPHeaderField: "Content-Encoding"),
            contentRange: response.value(forHTTPHeaderField: "Content-Range"),
            entityTag: response.value(forHTTPHeaderField: "ETag"),
            lastModified: response.value(forHTTPHeaderField: "Last-Modified"),
            contentLength: response.expectedContentLength,
            validator: validator,
            received: held,
            expected: total
        ) {
        case .rest(let total):
            facts.withLock { $0.total = total }
            return true
        case .whole, .wholeInsteadOfRest:
            let startsOver = startOver()
            if startsOver { facts.withLock { $0.begin(response) } }
            return startsOver
        case nil:
            let startsOver = startOver()
            facts.withLock { facts in
                facts.validator = nil
                facts.asksAgain = startsOver
            }
            return false
        }
    }

    /// Whether another attempt may follow this failure. Bytes in an output stream cannot be taken back, so only the
    /// rest of the same content may follow them.
    func mayFollow(_ error: UncurlError) -> Bool {
        let held = sink.withLock { $0?.count ?? 0 }
        return outputStream == nil || held == 0 || error.response == nil && facts.withLock { $0.validator } != nil
    }

    /// Prepares another attempt. The attempt continues after the received content if a validator can prove that the
    /// content is the same, and starts over otherwise. False: it can do neither, because the stream's bytes cannot be
    /// taken back.
    func goesOn(behind error: UncurlError) -> Bool {
        if error.response == nil, facts.withLock({ $0.validator }) != nil { return true }
        facts.withLock { $0.validator = nil }
        return startOver()
    }

    /// - Returns: false if a stream has already received content.
    private func startOver() -> Bool {
        sink.withLock { sink in
            do throws(OperationFailure) {
                try sink?.startOver()
                facts.withLock { $0.response = nil }
                return true
            } catch {
                facts.withLock { $0.failure = .output(error) }
                return false
            }
        }
    }
}

extension HTTPRequestOperation.Facts {
    fileprivate mutating func begin(_ response: HTTPURLResponse) {
        self.response = response
        let isCoded = response.value(forHTTPHeaderField: "Content-Encoding") != nil
        total = isCoded ? -1 : response.expectedContentLength
        // The offsets of decoded content are not those of the server's ranges.
        validator =
            isCoded || response.statusCode != 200
            ? nil
            : ResumeRule.validator(
                entityTag: response.sendableEntityTag,
                lastModified: response.value(forHTTPHeaderField: "Last-Modified"),
                date: response.value(forHTTPHeaderField: "Date")?.httpDate,
                now: Int64(Date().timeIntervalSince1970)
            )
    }
}

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
