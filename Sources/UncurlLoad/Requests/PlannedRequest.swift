import UncurlEngine
import UncurlHTTP1
import UncurlSemantics
import UncurlText

/// A request as the run sends it: always the same, or with its own values each time.
final class PlannedRequest: Sendable {
    let description: RequestDescription
    let origin: Origin
    let options: EngineRequest.Options
    /// The finished request. Nil if it has places to fill in.
    let fixed: EngineRequest?
    private let target: Template
    private let fields: [(name: String, value: Template)]
    private let body: Template?
    /// The whole request as it is, if that was given.
    private let verbatim: Template?
    /// The scope that decides which cookies a virtual user sends.
    let cookieScope: CookieScope
    /// The URL that redirections are resolved against.
    let url: URIReference
    /// The name of the request in an error's example.
    let label: String
    /// The number of its name among the names that the figures distinguish. Nil for none.
    let name: Int?

    init(
        _ description: RequestDescription,
        origin: Origin,
        options: EngineRequest.Options,
        slots: TemplateSlots,
        name: Int? = nil,
        verbatim octets: [UInt8]? = nil
    ) throws(EngineError) {
        (self.description, self.origin, self.options, self.name) = (description, origin, options, name)
        let isSecure = origin.scheme == .https
        cookieScope = CookieScope(origin.host, port: origin.port, description.target, isSecure: isSecure)
        url = URIReference("\(origin)\(description.target)")
        target = slots.template(description.target)
        fields = description.fields.map { ($0.name, slots.template($0.value)) }
        body = description.body.map { slots.template($0) }
        verbatim = octets.map { slots.template($0) }
        if let octets {
            let line = String(decoding: octets.prefix { $0 != 0x0D && $0 != 0x0A }.prefix(200), as: UTF8.self)
            label = "\(origin) \(quoted(line))"
            fixed = verbatim?.isFixed == true ? EngineRequest(verbatim: octets, origin: origin, options: options) : nil
            return
        }
        label = "\(description.method) \(origin.scheme.rawValue)://\(description.host)\(description.target)"
        let isFixed = target.isFixed && fields.allSatisfy { $0.value.isFixed } && body?.isFixed != false
        fixed = isFixed ? try description.made(origin, options) : nil
    }

    /// Returns this request with its places filled in for good.
    func settled(_ context: inout TemplateContext) throws(EngineError) -> PlannedRequest {
        let description = description.with(
            target: String(decoding: target.render(&context, for: .target), as: UTF8.self),
            fields: fields.map {
                .init(name: $0.name, value: String(decoding: $0.value.render(&context, for: .field), as: UTF8.self))
            },
            body: body?.render(&context, for: .body)
        )
        let octets = verbatim?.render(&context, for: .body)
        return try PlannedRequest(
            description,
            origin: origin,
            options: options,
            slots: TemplateSlots(),
            name: name,
            verbatim: octets
        )
    }

    func filled(_ context: inout TemplateContext, cookies: [UInt8]? = nil) throws(EngineError) -> EngineRequest {
        if let verbatim {
            return EngineRequest(verbatim: verbatim.render(&context, for: .body), origin: origin, options: options)
        }
        var all: [(name: String, value: [UInt8])] = []
        for (name, value) in fields { all.append((name, value.render(&context, for: .field))) }
        return try EngineRequest(
            method: description.method,
            origin: origin,
            target: String(decoding: target.render(&context, for: .target), as: UTF8.self),
            fields: try Self.fields(all, cookies: cookies),
            body: body.map { .bytes($0.render(&context, for: .body)) } ?? .none,
            options: options
        )
    }

    static func fields(
        _ given: [(name: String, value: [UInt8])],
        cookies: [UInt8]? = nil
    ) throws(EngineError) -> HTTPFields {
        do throws(HTTP1Error) {
            var fields = HTTPFields()
            for (name, value) in given { try fields.append(name, octets: value) }
            if let cookies { try fields.append("Cookie", octets: cookies) }
            return fields
        } catch {
            throw .invalidRequest(.syntax(error))
        }
    }
}

/// The requests of a run's inputs, and the choice of the next one. All threads share the list.
struct RequestList: Sendable {
    let requests: [PlannedRequest]
    private let isRandom: Bool
    /// The sum of the weights up to and including each request.
    private let sums: [UInt64]

    init(_ requests: [PlannedRequest], weights: [UInt64], isRandom: Bool) {
        (self.requests, self.isRandom) = (requests, isRandom)
        sums = weights.runningSums
    }

    /// Whether the next request depends on how many were sent before.
    var isNumbered: Bool { !isRandom && requests.count > 1 }

    func index(_ number: UInt64, _ shard: Shard, _ random: inout RandomStream) -> Int {
        guard let total = sums.last, requests.count > 1 else { return 0 }
        let place = isRandom ? UInt64.random(in: 0..<total, using: &random) : shard.place(of: number, in: total)
        return sums.count(upTo: place)
    }
}
