import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Uncurl
import UncurlEngine
import UncurlHTTP1
import UncurlReactor

/// One request or sequence of requests whose octets are recorded.
struct RecordedCase: Sendable {
    let label: String
    var hasOther = false
    var scripts: @Sendable (_ other: String) -> [RawScript] = { _ in [] }
    /// Sends, and says what came of it.
    let run: @Sendable (Wire) async throws -> String

    init(
        _ label: String,
        hasOther: Bool = false,
        scripts: @escaping @Sendable (String) -> [RawScript] = { _ in [] },
        run: @escaping @Sendable (Wire) async throws -> String
    ) {
        (self.label, self.hasOther, self.scripts, self.run) = (label, hasOther, scripts, run)
    }

    /// One whose first connection gives these answers in order, and the next connections those of `later`.
    init(
        _ label: String,
        answers: [String],
        later: [[String]] = [],
        hasOther: Bool = false,
        run: @escaping @Sendable (Wire) async throws -> String
    ) {
        self.init(
            label,
            hasOther: hasOther,
            scripts: { other in
                ([answers] + later).map { answers in
                    RawScript(answers.flatMap { RecordedCase.steps($0.replacing("OTHER", with: other)) })
                }
            },
            run: run
        )
    }

    /// A request is read whole, or its head alone where the answer begins so; `reset` is no answer.
    private static func steps(_ answer: String) -> [RawStep] {
        if answer == "reset" { return [.receive(.request), .reset] }
        if answer.hasPrefix("head ") { return [.receive(.headEnd), .send(Array(answer.dropFirst(5).utf8))] }
        return [.receive(.request), .send(Array(answer.utf8))]
    }

    func block() async throws -> (label: String, text: String) {
        let wire = try Wire(hasOther: hasOther, scripts)
        var outcome: String
        do { outcome = try await run(wire) } catch { outcome = RecordedCase.text(error) }
        return (label, "\(wire.text)--- \(wire.settled(outcome))\n")
    }

    static func text(_ error: any Error) -> String {
        switch error {
        case let error as URLError: "URLError \(error.code.rawValue)"
        case let error as UncurlError: error.urlError.map { text($0) } ?? "UncurlError: \(error)"
        default: "\(error)"
        }
    }

    static func text(_ response: URLResponse?) -> String { "\((response as? HTTPURLResponse)?.statusCode ?? 0)" }

    static func text<Value>(_ response: Response<Value>) -> String {
        response.error.map { text($0) } ?? "\(response.statusCode ?? 0)"
    }
}

/// A response's head, with fields.
func reply(_ status: String, _ fields: String..., content: String = "") -> String {
    "HTTP/1.1 \(status)\r\n" + fields.map { "\($0)\r\n" }.joined()
        + "Content-Length: \(content.utf8.count)\r\n\r\n\(content)"
}

/// Requests of the engine's own.
final class EngineDoor: ExchangeDelegate {
    private static let group = try? EventLoopGroup(count: 1, name: "recorded")
    private let engine: Engine
    private var parts: [BodyPart]
    private let end: @Sendable (String) -> Void
    private var text = ""

    private init(_ engine: Engine, _ parts: [BodyPart], _ end: @escaping @Sendable (String) -> Void) {
        (self.engine, self.parts, self.end) = (engine, parts, end)
    }

    static func outcome(
        of request: EngineRequest,
        _ parts: [BodyPart] = [],
        _ configuration: EngineConfiguration = EngineConfiguration()
    ) async throws -> String {
        guard let loop = group?.loops[0] else { throw URLError(.unknown) }
        let word = Word<String>()
        loop.post {
            let engine = Engine(on: loop, configuration: configuration)
            engine.start(request, delegate: EngineDoor(engine, parts) { word.give($0) })
        }
        return await word.wait("\(request.method) \(request.target)") ?? "no end"
    }

    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) { text += "\(head.status) " }

    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {}

    func exchange(_ id: ExchangeID, needsBodyAt offset: UInt64) -> BodyPart {
        parts.isEmpty ? .end(trailers: nil) : parts.removeFirst()
    }

    func exchange(_ id: ExchangeID, didUpgrade connection: UpgradedConnection) {
        text += "upgraded "
        connection.close()
    }

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        if case .failed(let error) = outcome { text += "\(error)" }
        guard report.remaining == 0 else { return }
        engine.shutdown()
        end(text)
    }
}

/// Contents that many cases send.
enum Sample {
    static let small = Data("one=1&two=2".utf8)
    /// Every octet comes, in no short period.
    static let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })

    static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE", "get"]

    static func fields(_ pairs: [(String, String)]) throws(HTTP1Error) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs { try fields.append(name, value) }
        return fields
    }
}
