internal import Foundation
internal import HTTPEngine
internal import Reactor
internal import Synchronization

/// Content on its way from a load to one reader that asks for it: an asynchronous sequence, a stream task. It holds so much and
/// no more; the load stops reading until the reader has come closer.
final class ByteChannel: Sendable {
    /// What waits at most, about: two of the largest reads may lie above it.
    private static let most = 256 << 10
    private static let together = 16 << 10

    @safe private struct State {
        var chunks: [[UInt8]] = []
        var count = 0
        var isFull = false
        var ending: Result<Void, any Error>?
        var head: URLResponse?
        var headWaiter: UnsafeContinuation<URLResponse, any Error>?
        var reader: UnsafeContinuation<[UInt8]?, any Error>?
        var load: LoopBound<TaskLoader>?
        /// There is no reader any more.
        var isAbandoned = false
    }

    private let state = Mutex(State())

    init() {}

    // MARK: For the load, on its loop

    func received(_ response: URLResponse, _ load: TaskLoader) {
        let bound = LoopBound(load, on: load.engine.loop)
        let waiter = unsafe state.withLock { state in
            state.head = response
            state.load = bound
            defer { unsafe state.headWaiter = nil }
            return unsafe state.headWaiter
        }
        unsafe waiter?.resume(returning: response)
    }

    /// False: enough waits.
    func append(_ bytes: Span<UInt8>) -> Bool {
        let chunk = unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) }
        let (reader, hasRoom) = unsafe state.withLock { state -> (UnsafeContinuation<[UInt8]?, any Error>?, Bool) in
            if state.isAbandoned { return (nil, true) }
            if let reader = unsafe state.reader {
                unsafe state.reader = nil
                return unsafe (reader, true)
            }
            // A server decides how small pieces are: those that wait are put together.
            if let last = state.chunks.indices.last, state.chunks[last].count + chunk.count <= ByteChannel.together {
                state.chunks[last] += chunk
            } else {
                state.chunks.append(chunk)
            }
            state.count += chunk.count
            if state.count >= ByteChannel.most { state.isFull = true }
            return (nil, !state.isFull)
        }
        unsafe reader?.resume(returning: chunk)
        return hasRoom
    }

    func end(_ failure: (any Error)?) {
        let (head, reader) = unsafe state.withLock { state in
            state.ending = failure.map { .failure($0) } ?? .success(())
            state.load = nil
            defer {
                unsafe state.headWaiter = nil
                unsafe state.reader = nil
            }
            return unsafe (state.headWaiter, state.reader)
        }
        unsafe head?.resume(throwing: failure ?? URLError(.badServerResponse))
        if let failure {
            unsafe reader?.resume(throwing: failure)
        } else {
            unsafe reader?.resume(returning: nil)
        }
    }

    // MARK: For the reader

    /// The head of the answer; once.
    func head() async throws -> URLResponse {
        try await unsafe withUnsafeThrowingContinuation { continuation in
            let known = state.withLock { state -> Result<URLResponse, any Error>? in
                if let head = state.head { return .success(head) }
                if case .failure(let error)? = state.ending { return .failure(error) }
                if state.ending != nil { return .failure(URLError(.badServerResponse)) }
                unsafe state.headWaiter = continuation
                return nil
            }
            if let known { unsafe continuation.resume(with: known) }
        }
    }

    /// All that has come, or the next that comes; nil at the end. One reader at a time: a second one meanwhile gets nothing.
    func next() async throws -> [UInt8]? {
        try await unsafe withUnsafeThrowingContinuation { continuation in
            let known = state.withLock { state -> Result<[UInt8]?, any Error>? in
                if !state.chunks.isEmpty { return .success(take(&state)) }
                switch state.ending {
                case .failure(let error)?: return .failure(error)
                case .success?: return .success(nil)
                case nil: break
                }
                guard unsafe state.reader == nil else { return .success(nil) }
                unsafe state.reader = continuation
                return nil
            }
            if let known { unsafe continuation.resume(with: known) }
        }
    }

    /// What is there at this moment, without waiting.
    func takeNow() -> [UInt8] { state.withLock { $0.chunks.isEmpty ? [] : take(&$0) } }

    /// The reader is gone: what comes is let go of.
    func abandon() {
        state.withLock { state in
            state.isAbandoned = true
            state.chunks = []
        }
    }

    private func take(_ state: inout State) -> [UInt8] {
        let all = state.chunks.count == 1 ? state.chunks[0] : Array(state.chunks.joined())
        state.chunks = []
        state.count = 0
        if state.isFull {
            state.isFull = false
            if let load = state.load { load.loop.post { load.value.catchUp() } }
        }
        return all
    }
}
