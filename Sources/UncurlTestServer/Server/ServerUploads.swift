internal import Synchronization
internal import UncurlHTTP1
internal import UncurlTLS
import UncurlText

/// The uploads of a server's `/resumable-upload`. Several connections may send parts of one. Any thread.
final class ServerUploads: Sendable {
    private struct State {
        var uploads: [UInt64: ServerUpload] = [:]
        var last: UInt64 = 0
    }

    /// The most uploads; older ones are dropped, so that a client cannot fill the server's memory.
    static let most: UInt64 = 1024

    private let state = Mutex(State())

    /// - Parameter cuts: says where connections are cut.
    func make(_ cuts: ServerUpload.Cuts) -> ServerUpload {
        state.withLock { state in
            state.last += 1
            let upload = ServerUpload(state.last, cuts)
            state.uploads[state.last] = upload
            if state.last > ServerUploads.most { state.uploads[state.last - ServerUploads.most] = nil }
            return upload
        }
    }

    /// Nil for an unknown upload.
    func find(_ name: String) -> ServerUpload? {
        guard let number = UInt64(name) else { return nil }
        return state.withLock { $0.uploads[number] }
    }

    func remove(_ upload: ServerUpload) { state.withLock { $0.uploads[upload.number] = nil } }
}

/// One upload. It keeps only the number of bytes and their hash. Any thread.
final class ServerUpload: Sendable {
    /// The number of octets after which a connection is reset, and the number of resets.
    struct Cuts: Sendable {
        var octets: UInt64
        var times: UInt64
    }

    /// The progress of an upload.
    struct Progress {
        var received: UInt64
        var isComplete: Bool
    }

    enum Reception {
        case taken
        /// The connection must be reset, as the cuts say.
        case cut
        /// A later request has replaced this one.
        case replaced
    }

    private struct State: ~Copyable {
        var digest = RunningDigest(.sha256)
        var received: UInt64 = 0
        /// The number of the request that adds to the upload.
        var turn: UInt64 = 0
        var hash: String?
        var cutsLeft: UInt64
        var nextCut: UInt64
    }

    let number: UInt64
    private let cuts: Cuts
    private let state: Mutex<State>

    init(_ number: UInt64, _ cuts: Cuts) {
        self.number = number
        self.cuts = cuts
        state = Mutex(State(cutsLeft: cuts.times, nextCut: cuts.octets))
    }

    /// Ends the turn of the request that was adding to the upload.
    func interrupt() -> Progress {
        state.withLock { state in
            state.turn += 1
            return Progress(received: state.received, isComplete: state.hash != nil)
        }
    }

    /// Begins the turn of another request. Nil where the upload has another offset or is complete.
    func begin(at offset: UInt64) -> UInt64? {
        state.withLock { state in
            guard state.received == offset, state.hash == nil else { return nil }
            state.turn += 1
            return state.turn
        }
    }

    func append(_ octets: Span<UInt8>, _ turn: UInt64) -> Reception {
        state.withLock { state in
            guard state.turn == turn else { return .replaced }
            guard state.digest?.add(octets) == true else { return .cut }
            state.received += UInt64(octets.count)
            guard state.cutsLeft > 0, state.received >= state.nextCut else { return .taken }
            state.cutsLeft -= 1
            state.nextCut = state.received + cuts.octets
            return .cut
        }
    }

    /// Ends the upload. Returns its length and its hash in hexadecimal digits; nil for a request that another has
    /// replaced.
    func finish(_ turn: UInt64) -> (UInt64, String)? {
        state.withLock { state in
            guard state.turn == turn else { return nil }
            let hash = state.digest.take()?.finish().map { Hex.text($0) } ?? ""
            state.hash = hash
            return (state.received, hash)
        }
    }

    /// The progress, if this request still adds to the upload.
    func progress(_ turn: UInt64) -> Progress? {
        state.withLock { state in
            state.turn == turn ? Progress(received: state.received, isComplete: state.hash != nil) : nil
        }
    }
}
