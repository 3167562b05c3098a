internal import Synchronization
internal import URLLoading

/// What an operation does with the head of an answer, the first or one after a pause.
extension HTTPRequestOperation {
    /// False: the task is to stop; ``asksAgain(_:)`` knows why.
    func receive(_ response: HTTPURLResponse?) -> Bool {
        guard let response else { return false }
        return facts.withLock { facts in
            guard let held = facts.sink?.count, held > 0 else {
                facts.begin(response, OperationSink(outputStream))
                return true
            }
            switch ResumeRule.decide(
                status: response.statusCode,
                contentRange: response.value(forHTTPHeaderField: "Content-Range"),
                entityTag: response.value(forHTTPHeaderField: "ETag"),
                lastModified: response.value(forHTTPHeaderField: "Last-Modified"),
                contentLength: response.expectedContentLength,
                validator: facts.validator ?? "",
                received: held,
                expected: facts.total
            ) {
            case .append(let total):
                facts.total = total
                return true
            case .restart:
                do throws(OperationFailure) { try facts.sink?.startOver() } catch { facts.failure = error }
                guard facts.failure == nil, let sink = facts.sink else { return false }
                facts.begin(response, sink)
                return true
            case .askAgain:
                do throws(OperationFailure) { try facts.sink?.startOver() } catch { facts.failure = error }
                facts.validator = nil
                facts.asksAgain = facts.failure == nil
                return false
            }
        }
    }

    /// The server's answer was no rest of what is there: all of it is asked for.
    func asksAgain(_ outcome: TaskOutcome) -> Bool {
        facts.withLock { facts in
            guard facts.asksAgain, !isCancelled else { return false }
            facts.asksAgain = false
            facts.state = .beginning(pauses: false)
            return true
        }
    }
}

extension HTTPRequestOperation.Facts {
    fileprivate mutating func begin(_ response: HTTPURLResponse, _ sink: OperationSink) {
        self.response = response
        self.sink = sink
        let isCoded = response.value(forHTTPHeaderField: "Content-Encoding") != nil
        total = isCoded ? -1 : response.expectedContentLength
        // Decoded content has other offsets than the server's ranges.
        validator =
            isCoded || response.statusCode != 200
            ? nil
            : ResumeRule.validator(
                entityTag: response.value(forHTTPHeaderField: "ETag"),
                lastModified: response.value(forHTTPHeaderField: "Last-Modified"),
                date: response.value(forHTTPHeaderField: "Date").flatMap { HTTPDateText.date($0) }
            )
    }
}

extension TaskOutcome {
    /// With content that was kept elsewhere.
    init(_ outcome: TaskOutcome, data: Data, response: HTTPURLResponse?, error: URLError?) {
        self.init(
            task: outcome.task,
            response: response ?? outcome.response,
            data: data,
            file: nil,
            error: error,
            metrics: outcome.metrics
        )
    }
}
