// What a program does with Uncurl, each in a few lines: a typed value, a form with a progress bar, a download that is
// cut and goes on, server-sent events, and a WebSocket. All of it is asked of a server of its own, first in the clear
// and then over TLS.
//
//   swift run Tour
import Synchronization
import Uncurl
import UncurlExtras
import UncurlTLS
import UncurlTestServer

@main
struct Tour {
    let manager: HTTPSessionManager
    /// Where the sample files are.
    let folder: URL

    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tour-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        let plain = try TestServer.start()
        defer { plain.stop() }
        say("http, from \(plain.url("/"))")
        let manager = HTTPSessionManager(baseURL: URL(string: plain.url("/")))
        try await Tour(manager: manager, folder: folder).takeSteps()

        // The server's certificate is signed by an authority of its own, the only one that this manager trusts.
        let identity = try TestCertificates.localhost
        let certificate = TLSServerConfiguration.Certificate(identity)
        let secure = try TestServer.start(tls: TLSServerContext(TLSServerConfiguration(certificate: certificate)))
        defer { secure.stop() }
        say("https, from \(secure.url("/"))")
        var policy = SecurityPolicy()
        policy.roots = .only(try TrustedCertificate.all(inPEM: identity.authorityPEM))
        let trusting = HTTPSessionManager(baseURL: URL(string: secure.url("/")))
        try trusting.setSecurityPolicy(policy)
        try await Tour(manager: trusting, folder: folder).takeSteps()
    }

    func takeSteps() async throws {
        try await value()
        try await form()
        try await download()
        try await events()
        try await webSocket()
    }

    /// Says what came of a step, and where its lines stand.
    private func tell(_ text: String, line: Int = #line) { Self.say("  \(text)  (Tour.swift:\(line))") }

    /// At once, in a pipe too.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// A GET whose JSON becomes a value of the program's own type.
    func value() async throws {
        struct Answer: Decodable { var args: [String: String] }
        let answer = try await manager.get("get", parameters: ["city": "Zürich"], as: Answer.self)
        tell("value      the server understood \(answer.args)")
    }

    /// A form whose file goes from the disk to the socket.
    func form() async throws {
        struct Answer: Decodable { var bytes: Int }
        let file = folder.appendingPathComponent("photo.raw")
        try Data(count: 32 << 20).write(to: file)
        var form = MultipartForm()
        try form.append(.text("A holiday"), name: "title")
        try form.append(.file(file), name: "photo")
        let reached = Mutex(TransferProgress?.none)
        let bar = TerminalProgressBar("  form      ", output: .standardOutput)
        bar.follow { reached.withLock { .init($0) } }
        let answer = try await manager.post(
            "upload",
            body: .multipart(form),
            progress: { new in reached.withLock { $0 = new } },
            as: Answer.self
        )
        await bar.waitForEnd()
        tell("form       the server got \(answer.bytes) bytes")
    }

    /// A download that is cancelled half-way and goes on where it stopped, if the server's file is still the same.
    func download() async throws {
        let place = folder.appendingPathComponent("disk.img")
        // Its progress is told on another thread.
        let control = Mutex<TransferControl?>(nil)
        var request = HTTPRequest("range/4000000")
        request.options.throttle = Throttle(download: 8_000_000)
        request.options.downloadProgress = { progress in
            if (progress.fraction ?? 0) > 0.5 { control.withLock { $0 }?.cancel() }
        }
        let transfer = manager.downloadTransfer(request, to: .file(place))
        control.withLock { $0 = transfer.control }
        transfer.resume()
        guard let rest = await transfer.response.resumeData else {
            return tell("download   was over before it could be cut")
        }
        let response = await manager.downloadResponse(resuming: rest, to: .file(place))
        let size = try response.result.get().resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        tell("download   cut, and completed by a \(response.statusCode ?? 0) to \(size) bytes")
    }

    /// Events as the server sends them. The loop ends when the server says that there are no more.
    func events() async throws {
        var names: [String] = []
        for try await event in manager.events(HTTPRequest("sse?count=3&delay=0.05")) { names.append(event.data) }
        tell("events     \(names.joined(separator: " "))")
    }

    /// A WebSocket beside the requests, by the same session.
    func webSocket() async throws {
        guard let url = URL(string: "websocket", relativeTo: manager.baseURL) else { return }
        let socket = manager.session.webSocketTask(with: url)
        socket.resume()
        try await socket.send(.string("hello"))
        if case .string(let echo) = try await socket.receive() { tell("WebSocket  the server said \(echo)") }
        socket.cancel(with: .normalClosure, reason: nil)
    }
}

extension TerminalProgressBar.Snapshot {
    fileprivate init(_ progress: TransferProgress?) {
        let isOver = progress.map { $0.completed == $0.total } ?? false
        self.init(completed: progress?.completed ?? 0, total: progress?.total, phase: isOver ? .completed : .running)
    }
}
