internal import Foundation
internal import Synchronization

/// Content on its way from a load to one reader that asks for it, such as an asynchronous sequence. The content that
/// waits in it is limited: beyond the limit the load stops reading, until the reader has taken some.
final class ByteChannel: Sendable {
    /// About the most that waits, in bytes: it may be exceeded by two of the largest reads.
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
        /// Tells the load that there is room again. Nil before the answer's head, and after its end.
        var onRoom: (@Sendable () -> Void)?
        var isAbandoned = false
    }

    private let state = Mutex(State())

    // MARK: For the load, on its loop

    /// Notes the head of the answer.
    ///
    /// - Parameter onRoom: called on the reader's thread when there is room again after ``append(_:)`` has returned
    ///   false.
    func received(_ response: URLResponse, onRoom: @escaping @Sendable () -> Void) {
        let waiter = unsafe state.withLock { state in
            state.head = response
            state.onRoom = onRoom
            defer { unsafe state.headWaiter = nil }
            return unsafe state.headWaiter
        }
        unsafe waiter?.resume(returning: response)
    }

    /// Adds content. Returns false if so much waits that reading is to pause.
    func append(_ bytes: Span<UInt8>) -> Bool {
        let chunk = unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) }
        let (reader, hasRoom) = unsafe state.withLock { state -> (UnsafeContinuation<[UInt8]?, any Error>?, Bool) in
            if state.isAbandoned { return (nil, true) }
            if let reader = unsafe state.reader {
                unsafe state.reader = nil
                return unsafe (reader, true)
            }
            // A server decides how small pieces are, so small ones that wait are joined.
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
            state.onRoom = nil
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

    /// Returns the head of the answer. It must be called only once.
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

    /// Returns all that has come, or waits for the next content; nil at the end. There must be one reader at a time: a
    /// second one meanwhile gets nil.
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

    /// Notes that the reader is gone: content that comes is discarded.
    func abandon() {
        state.withLock { state in
            state.isAbandoned = true
            state.chunks = []
        }
    }

    /// Joins chunks array by array. As one sequence they would be read octet by octet, which a debug build does sixty
    /// times as slowly.
    static func joined(_ chunks: [[UInt8]], count: Int) -> [UInt8] {
        if chunks.count == 1 { return chunks[0] }
        var all: [UInt8] = []
        all.reserveCapacity(count)
        for chunk in chunks { all += chunk }
        return all
    }

    private func take(_ state: inout State) -> [UInt8] {
        let all = ByteChannel.joined(state.chunks, count: state.count)
        state.chunks = []
        state.count = 0
        if state.isFull {
            state.isFull = false
            state.onRoom?()
        }
        return all
    }
}
