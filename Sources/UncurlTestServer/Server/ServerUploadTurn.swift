internal import UncurlHTTP1
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
        switch segments.count {
        case 1: create(request, uploads)
        case 2: goOn(request, uploads.find(segments[1]), uploads)
        default: answer = said(RouteResponse(404))
        }
    }

    // MARK: The head

    private func create(_ request: RouteRequest, _ uploads: ServerUploads) {
        guard ["POST", "PUT", "PATCH"].contains(request.method), let isLast = isLast(request) else {
            answer = said(.bad("an upload begins with POST, PUT or PATCH, and says whether it is complete"))
            return
        }
        guard let octets = Arguments.count(request.argument("cut") ?? "0", upTo: .max),
            let times = Arguments.count(request.argument("times") ?? (octets > 0 ? "1" : "0"), upTo: 1_000_000)
        else {
            answer = said(.bad("cut is a number of octets, times at most 1000000"))
            return
        }
        let upload = uploads.make(ServerUpload.Cuts(octets: octets, times: times))
        self.isLast = isLast
        isCreation = true
        adding = upload.begin(at: 0).map { (upload, $0) }
    }

    private func goOn(_ request: RouteRequest, _ upload: ServerUpload?, _ uploads: ServerUploads) {
        guard let upload else {
            answer = said(RouteResponse(404))
            return
        }
        switch request.method {
        case "HEAD":
            let progress = upload.interrupt()
            answer = said(RouteResponse(204, .none), progress).with("Cache-Control", "no-store")
        case "DELETE":
            _ = upload.interrupt()
            uploads.remove(upload)
            answer = said(RouteResponse(204, .none))
        case "PATCH": append(request, to: upload)
        default: answer = said(.methodNotAllowed(["HEAD", "PATCH", "DELETE"]))
        }
    }

    private func append(_ request: RouteRequest, to upload: ServerUpload) {
        guard let offset = request.field("upload-offset").flatMap({ UInt64($0) }), let isLast = isLast(request) else {
            answer = said(.bad("a part says where it begins, and whether it is the last"))
            return
        }
        guard version < 6 || request.field("content-type") == "application/partial-upload" else {
            answer = said(.text("a part is application/partial-upload\n", status: 415))
            return
        }
        guard let turn = upload.begin(at: offset) else {
            answer = said(RouteResponse(409), upload.interrupt())
            return
        }
        self.isLast = isLast
        adding = (upload, turn)
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
        switch adding.upload.append(octets, adding.turn) {
        case .taken: return true
        case .cut, .replaced: return false
        }
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
        return located(said(.json(body), .init(received: length, isComplete: true)), place)
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
