internal import Synchronization
internal import UncurlHTTP1
internal import UncurlTLS
import UncurlText

/// One request to `/resumable-upload`: the server's side of draft-ietf-httpbis-resumable-upload, in its interop
/// versions 3, 5 and 6. It belongs to one loop.
final class ServerUploadTurn {
    /// The answer that follows from the head alone: a refusal, the progress of an upload, or its removal. The content
    /// is not read.
    private(set) var answer: RouteResponse?
    private let version: Int
    /// The upload that this request adds to, and the number of the request.
    private var adding: (upload: ServerUpload, turn: UInt64)?
    private var isLast = false
    private var isCreation = false
    private let url: String

    static let path = "resumable-upload"

    /// Nil for another kind of request, which its route answers.
    init?(_ request: RouteRequest, _ uploads: ServerUploads) {
        let segments = request.segments
        guard segments.first == ServerUploadTurn.path, let version = request.field("upload-draft-interop-version"),
            let number = Int(version), [3, 5, 6].contains(number)
        else { return nil }
        self.version = number
        url = "\(request.scheme)://\(request.authority)/\(ServerUploadTurn.path)"
        answer =
            switch segments.count {
            case 1: create(request, uploads)
            case 2: goOn(request, uploads.find(segments[1]), uploads)
            default: said(RouteResponse(404))
            }
    }

    // MARK: The head

    private func create(_ request: RouteRequest, _ uploads: ServerUploads) -> RouteResponse? {
        guard ["POST", "PUT", "PATCH"].contains(request.method), let isLast = isLast(request) else {
            return said(.bad("an upload begins with POST, PUT or PATCH, and says whether it is complete"))
        }
        guard let octets = RouteResponse.number(request.argument("cut") ?? "0", upTo: .max),
            let times = RouteResponse.number(request.argument("times") ?? (octets > 0 ? "1" : "0"), upTo: 1_000_000)
        else { return said(.bad("cut is a number of octets, times at most 1000000")) }
        let upload = uploads.make((octets, times))
        self.isLast = isLast
        isCreation = true
        adding = upload.begin(at: 0).map { (upload, $0) }
        return nil
    }

    private func goOn(
        _ request: RouteRequest,
        _ upload: ServerUpload?,
        _ uploads: ServerUploads
    ) -> RouteResponse? {
        guard let upload else { return said(RouteResponse(404)) }
        switch request.method {
        case "HEAD":
            return said(RouteResponse(204, .none), upload.interrupt()).with("Cache-Control", "no-store")
        case "DELETE":
            _ = upload.interrupt()
            uploads.remove(upload)
            return said(RouteResponse(204, .none))
        case "PATCH": return append(request, to: upload)
        default: return said(.methodNotAllowed(["HEAD", "PATCH", "DELETE"]))
        }
    }

    private func append(_ request: RouteRequest, to upload: ServerUpload) -> RouteResponse? {
        guard let offset = request.field("upload-offset").flatMap({ UInt64($0) }), let isLast = isLast(request) else {
            return said(.bad("a part says where it begins, and whether it is the last"))
        }
        guard version < 6 || request.field("content-type") == "application/partial-upload" else {
            return said(.text("a part is application/partial-upload\n", status: 415))
        }
        guard let turn = upload.begin(at: offset) else { return said(RouteResponse(409), upload.interrupt()) }
        self.isLast = isLast
        adding = (upload, turn)
        return nil
    }

    /// Whether the request's content is the last of the upload; nil where it does not say.
    private func isLast(_ request: RouteRequest) -> Bool? {
        switch request.field(version == 3 ? "upload-incomplete" : "upload-complete") {
        case "?1": version != 3
        case "?0": version == 3
        default: nil
        }
    }

    /// Writes a 104 (Upload Resumption Supported) with the location of the upload.
    func announce(to output: inout [UInt8]) {
        guard isCreation, let adding else { return }
        output += "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Draft-Interop-Version: \(version)\r\n".utf8
        output += "Location: \(url)/\(adding.upload.number)\r\n\r\n".utf8
    }

    // MARK: The content

    /// False if the connection must be reset.
    func take(_ octets: Span<UInt8>) -> Bool {
        guard let adding, answer == nil else { return true }
        return adding.upload.append(octets, adding.turn)
    }

    /// The answer to the complete request.
    func response() -> RouteResponse {
        if let answer { return answer }
        guard let (upload, turn) = adding else { return .notFound }
        let place = isCreation ? "\(url)/\(upload.number)" : nil
        guard isLast else {
            guard let progress = upload.progress(turn) else { return said(RouteResponse(409)) }
            return located(said(RouteResponse(201), progress), place)
        }
        guard let (length, hash) = upload.finish(turn) else { return said(RouteResponse(409)) }
        let body = JSONTree.object(["length": .number("\(length)"), "sha256": .string(hash)])
        return located(said(.json(body), (length, true)), place)
    }

    private func located(_ response: RouteResponse, _ place: String?) -> RouteResponse {
        place.map { response.with("Location", $0) } ?? response
    }

    private func said(_ response: RouteResponse, _ progress: ServerUpload.Progress? = nil) -> RouteResponse {
        let response = response.with("Upload-Draft-Interop-Version", "\(version)")
        guard let progress else { return response }
        return response.with("Upload-Offset", "\(progress.received)")
            .with(
                version == 3 ? "Upload-Incomplete" : "Upload-Complete",
                progress.isComplete == (version != 3) ? "?1" : "?0"
            )
    }
}

/// The uploads of a server's `/resumable-upload`. Several connections may send parts of one. Any thread.
final class ServerUploads: Sendable {
    /// The most uploads; older ones are dropped, so that a client cannot fill the server's memory.
    static let most: UInt64 = 1024

    private let state = Mutex((uploads: [UInt64: ServerUpload](), last: UInt64(0)))

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
    typealias Cuts = (octets: UInt64, times: UInt64)
    typealias Progress = (received: UInt64, isComplete: Bool)

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
            return (state.received, state.hash != nil)
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

    /// Returns false if the connection must be reset: the cuts say so, or a later request has replaced this one.
    func append(_ octets: Span<UInt8>, _ turn: UInt64) -> Bool {
        state.withLock { state in
            guard state.turn == turn, state.digest?.add(octets) == true else { return false }
            state.received += UInt64(octets.count)
            guard state.cutsLeft > 0, state.received >= state.nextCut else { return true }
            state.cutsLeft -= 1
            state.nextCut = state.received + cuts.octets
            return false
        }
    }

    /// Ends the upload. Returns its length and its hash in hexadecimal digits; nil for a request that another has
    /// replaced.
    func finish(_ turn: UInt64) -> (UInt64, String)? {
        state.withLock { state in
            guard state.turn == turn else { return nil }
            let hash = state.digest.take()?.finish().map { hexText($0) } ?? ""
            state.hash = hash
            return (state.received, hash)
        }
    }

    /// The progress, if this request still adds to the upload.
    func progress(_ turn: UInt64) -> Progress? {
        state.withLock { state in
            state.turn == turn ? (state.received, state.hash != nil) : nil
        }
    }
}
