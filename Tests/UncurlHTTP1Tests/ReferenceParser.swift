/// HTTP/1.1 as RFC 9112 spells it, for a whole input, by splitting lines and with no thought of speed: an oracle written
/// apart from the parsers, to be compared with them. Strict, with default limits out of reach of the inputs it is given.
struct ReferenceParser {
    struct Message: Equatable {
        var line: [[UInt8]]
        var fields: [[[UInt8]]]
        var body: [UInt8]
    }

    enum Verdict: Equatable {
        case complete
        case incomplete
        case invalid
    }

    private enum Stop: Error {
        case incomplete
        case invalid
    }

    private enum Framing {
        case length(Int)
        case chunked
        case untilClose
    }

    let input: [UInt8]
    private var position = 0
    private(set) var messages: [Message] = []
    /// Octets behind the last message.
    var surplus: Int { input.count - position }

    init(_ input: [UInt8]) {
        self.input = input
    }

    /// One response to a GET.
    mutating func response() -> Verdict {
        verdict { (reader: inout ReferenceParser) in
            while true {
                let (line, fields) = try reader.head(isRequest: false)
                let status = Int(String(decoding: line[1], as: UTF8.self)) ?? 0
                if status == 101 { throw Stop.invalid }
                if status < 200 {
                    reader.messages.append(Message(line: line, fields: fields, body: []))
                    guard reader.messages.count <= 32 else { throw Stop.invalid }
                    continue
                }
                let framing: Framing =
                    [204, 304].contains(status) ? .length(0) : try reader.responseFraming(fields, line[0])
                reader.messages.append(Message(line: line, fields: fields, body: []))
                try reader.body(framing)
                return
            }
        }
    }

    /// Requests up to the end of the input.
    mutating func requests() -> Verdict {
        verdict { (reader: inout ReferenceParser) in
            while reader.position < reader.input.count {
                let (line, fields) = try reader.head(isRequest: true)
                try reader.checkTarget(line[0], line[1])
                try reader.checkHost(fields, line[2])
                let framing = try reader.requestFraming(fields, line[2])
                reader.messages.append(Message(line: line, fields: fields, body: []))
                try reader.body(framing)
            }
        }
    }

    private mutating func verdict(_ read: (inout ReferenceParser) throws -> Void) -> Verdict {
        do {
            try read(&self)
            return .complete
        } catch Stop.incomplete {
            return .incomplete
        } catch {
            return .invalid
        }
    }

    /// The lines up to the empty one. A line that is not complete yet may already hold what no line may.
    private mutating func head(isRequest: Bool) throws -> ([[UInt8]], [[[UInt8]]]) {
        if isRequest, input[position] == 13 {
            guard position + 1 < input.count else { throw Stop.incomplete }
            guard input[position + 1] == 10 else { throw Stop.invalid }
            position += 2
        }
        let first = try line { isRequest ? isRequestLine($0, $1) : isStatusLine($0, $1) }
        var fields: [[[UInt8]]] = []
        while true {
            let text = try line { isFieldLine($0, $1) }
            if text.isEmpty { break }
            let colon = text.firstIndex(of: 0x3A) ?? 0
            fields.append([Array(text[..<colon]), trimmed(text[(colon + 1)...])])
        }
        return (startLine(first, isRequest), fields)
    }

    /// The next line, checked also while it is a part of one.
    private mutating func line(_ isLegal: ([UInt8], Bool) -> Bool) throws -> [UInt8] {
        let end = input[position...].firstIndex { $0 < 0x20 && $0 != 9 || $0 == 0x7F } ?? input.count
        let text = Array(input[position..<end])
        guard end < input.count else {
            guard isLegal(text, false) else { throw Stop.invalid }
            throw Stop.incomplete
        }
        guard input[end] == 13, isLegal(text, true) else { throw Stop.invalid }
        guard end + 1 < input.count else { throw Stop.incomplete }
        guard input[end + 1] == 10 else { throw Stop.invalid }
        position = end + 2
        return text
    }

    private func startLine(_ text: [UInt8], _ isRequest: Bool) -> [[UInt8]] {
        isRequest
            ? text.split(separator: 0x20).map { Array($0) }
            : [Array(text[..<8]), Array(text[9..<12]), Array(text.dropFirst(13))]
    }

    private mutating func body(_ framing: Framing) throws {
        let last = messages.count - 1
        switch framing {
        case .length(let length):
            let end = min(input.count, length > input.count ? input.count : position + length)
            messages[last].body = Array(input[position..<end])
            let got = end - position
            position = end
            guard got == length else { throw Stop.incomplete }
        case .untilClose:
            messages[last].body = Array(input[position...])
            position = input.count
            throw Stop.incomplete
        case .chunked:
            switch ReferenceChunks.decode(Array(input[position...])) {
            case .complete(let body, let length):
                messages[last].body = body
                position += length
            case .incomplete(let body):
                messages[last].body = body
                throw Stop.incomplete
            case .invalid:
                throw Stop.invalid
            }
        }
    }

    private func responseFraming(_ fields: [[[UInt8]]], _ version: [UInt8]) throws -> Framing {
        let codings = values(fields, "transfer-encoding")
        let lengths = values(fields, "content-length")
        if !codings.isEmpty {
            try checkChunked(codings, lengths, version)
            return .chunked
        }
        guard !lengths.isEmpty else { return .untilClose }
        let numbers = try lengths.flatMap { $0.split(separator: 0x2C, omittingEmptySubsequences: false) }
            .map { try number(trimmed($0)) }
        guard Set(numbers).count == 1 else { throw Stop.invalid }
        return .length(numbers[0])
    }

    private func requestFraming(_ fields: [[[UInt8]]], _ version: [UInt8]) throws -> Framing {
        let codings = values(fields, "transfer-encoding")
        let lengths = values(fields, "content-length")
        if !codings.isEmpty {
            try checkChunked(codings, lengths, version)
            return .chunked
        }
        guard lengths.count <= 1 else { throw Stop.invalid }
        return .length(try lengths.first.map { try number($0) } ?? 0)
    }

    private func checkChunked(_ codings: [[UInt8]], _ lengths: [[UInt8]], _ version: [UInt8]) throws {
        let members = codings.flatMap { $0.split(separator: 0x2C) }.map { trimmed($0) }.filter { !$0.isEmpty }
        guard lengths.isEmpty, version.last != 0x30, members.map({ lowercased($0) }) == [octets("chunked")] else {
            throw Stop.invalid
        }
    }

    private func number(_ text: [UInt8]) throws -> Int {
        guard !text.isEmpty, text.allSatisfy({ (0x30...0x39).contains($0) }) else { throw Stop.invalid }
        let digits = String(decoding: text.drop { $0 == 0x30 }, as: UTF8.self)
        guard let value = digits.isEmpty ? 0 : Int(digits) else { throw Stop.invalid }
        return value
    }

    private func checkHost(_ fields: [[[UInt8]]], _ version: [UInt8]) throws {
        let hosts = values(fields, "host")
        guard hosts.count == 1 || hosts.isEmpty && version.last == 0x30 else { throw Stop.invalid }
        guard let host = hosts.first, !host.isEmpty else { return }
        guard isAuthority(host, needsPort: false) else { throw Stop.invalid }
    }

    private func isAuthority(_ text: [UInt8], needsPort: Bool) -> Bool {
        let text = String(decoding: text, as: UTF8.self)
        let name = /[A-Za-z0-9\-._~!$%&'()*+;=]+|\[[A-Za-z0-9\-._~!$%&'()*+;=:]+\]/
        guard let host = text.prefixMatch(of: name) else { return false }
        let rest = text[host.range.upperBound...]
        if rest.isEmpty || rest == ":" { return !needsPort }
        guard rest.first == ":", let port = Int(rest.dropFirst()), rest.dropFirst().allSatisfy(\.isNumber) else {
            return false
        }
        return port <= 65535
    }

    private func checkTarget(_ method: [UInt8], _ target: [UInt8]) throws {
        let text = String(decoding: target, as: UTF8.self)
        let isLegal =
            switch method {
            case octets("CONNECT"): isAuthority(target, needsPort: true)
            case octets("OPTIONS") where text == "*": true
            default: text.hasPrefix("/") || text.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*:\/\/[^\/]/) != nil
            }
        guard isLegal else { throw Stop.invalid }
    }

    private func values(_ fields: [[[UInt8]]], _ name: String) -> [[UInt8]] {
        fields.filter { lowercased($0[0]) == octets(name) }.map { $0[1] }
    }
}

private func isStatusLine(_ text: [UInt8], _ isWhole: Bool) -> Bool {
    let form: [ClosedRange<UInt8>] =
        octets("HTTP/1.").map { $0...$0 } + [
            0x30...0x39, 0x20...0x20, 0x31...0x39, 0x30...0x39, 0x30...0x39, 0x20...0x20,
        ]
    guard zip(text, form).allSatisfy({ $1.contains($0) }) else { return false }
    return !isWhole || text.count >= 12
}

private func isRequestLine(_ text: [UInt8], _ isWhole: Bool) -> Bool {
    let parts = text.split(separator: 0x20, omittingEmptySubsequences: false)
    guard parts.count <= 3, parts[0].allSatisfy({ isToken($0) }), !parts[0].isEmpty || text.isEmpty && !isWhole else {
        return false
    }
    guard parts.count > 1 else { return !isWhole }
    guard parts[1].allSatisfy({ $0 > 32 && $0 < 127 && $0 != 0x23 }) else { return false }
    guard parts.count > 2 else { return !isWhole }
    guard !parts[1].isEmpty else { return false }
    let form: [ClosedRange<UInt8>] = octets("HTTP/1.").map { $0...$0 } + [0x30...0x39]
    guard parts[2].count <= 8, zip(parts[2], form).allSatisfy({ $1.contains($0) }) else { return false }
    return !isWhole || parts[2].count == 8
}

private func isFieldLine(_ text: [UInt8], _ isWhole: Bool) -> Bool {
    if text.isEmpty { return true }
    let name = text.prefix { isToken($0) }
    guard !name.isEmpty else { return false }
    guard name.count < text.count else { return !isWhole }
    return text[name.count] == 0x3A
}

private func trimmed(_ text: some BidirectionalCollection<UInt8>) -> [UInt8] {
    let start = text.drop { $0 == 0x20 || $0 == 9 }
    var end = Array(start)
    while let last = end.last, last == 0x20 || last == 9 { end.removeLast() }
    return end
}

private func lowercased(_ text: [UInt8]) -> [UInt8] {
    text.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
}
