import TestSupport

/// Random messages near the border between legal and illegal: a grammar, and the catalogue of mutations that request
/// smuggling has been built from.
struct MessageGenerator {
    var random: SplitMix

    init(seed: UInt64) {
        random = SplitMix(seed: seed)
    }

    mutating func input(isRequest: Bool) -> [UInt8] {
        var text = ""
        for _ in 0...random.below(2) {
            text += isRequest ? request() : response()
        }
        var octets = UncurlHTTP1Tests.octets(text)
        for _ in 0..<random.pick([0, 0, 1, 1, 1, 2, 3]) { mutate(&octets) }
        return octets
    }

    private mutating func request() -> String {
        let method = random.pick(["GET", "POST", "PUT", "M-X!", "OPTIONS", "CONNECT"])
        let paths = ["/", "/a?b=c", "http://a/b", "/with/a/longer/path%20x"]
        let authorities = ["a.b:80", "[::1]:443"]
        let isUsual = random.below(8) > 0
        let target = random.pick(
            (method == "CONNECT") == isUsual ? authorities : paths + (method == "OPTIONS" ? ["*"] : [])
        )
        let version = random.pick(["1.1", "1.1", "1.1", "1.0", "1.7"])
        return "\(method) \(target) HTTP/\(version)\r\n"
            + random.pick(["Host: a\r\n", "Host: a.b:80\r\n", "host:\r\n"])
            + message(random.pick([0, 0, 1, 1, 2, 2, 3]))
    }

    private mutating func response() -> String {
        let status = random.pick([
            "200 OK", "200", "204 x", "304 \t", "404 Not Found", "100 Continue", "103 E", "299 ", "999 ?",
        ])
        return "HTTP/\(random.pick(["1.1", "1.1", "1.0", "1.3"])) \(status)\r\n"
            + message(random.pick([0, 0, 1, 1, 2, 2, 3]))
    }

    private mutating func message(_ kind: Int) -> String {
        var fields = ""
        for _ in 0..<random.below(4) { fields += field() }
        let body = String(repeating: "b", count: random.below(20))
        switch kind {
        case 0: return fields + "\r\n"
        case 1: return fields + "Content-Length: \(body.utf8.count)\r\n" + field() + "\r\n" + body
        case 2:
            return fields + "Transfer-Encoding: chunked\r\n\r\n" + chunks() + random.pick(["", "T: v\r\n"]) + "\r\n"
        default:
            return fields + framing() + random.pick(["", framing()]) + "\r\n" + random.pick([body, chunks() + "\r\n"])
        }
    }

    private mutating func chunks() -> String {
        var text = ""
        for _ in 0..<random.below(4) {
            let data = String(repeating: "c", count: random.below(18) + 1)
            let size = String(data.utf8.count, radix: 16, uppercase: random.below(2) == 0)
            text +=
                random.pick(["", "0", "000"]) + size + random.pick(["", "", ";a", ";a=b", " ; a = \"x;\\\"\""])
                + "\r\n\(data)\r\n"
        }
        return text + random.pick(["0\r\n", "00\r\n", "0;x\r\n"])
    }

    private mutating func field() -> String {
        random.pick(["A", "X-Y", "Connection", "x_1~", "Host2", "A-rather-long-field-name-to-cross-a-block"])
            + random.pick([": ", ":", ":\t ", ":  "])
            + random.pick([
                "", "v", "a, b", "close", "keep-alive", "\u{E9}\u{80}",
                "a value that is longer than one block of sixteen",
            ])
            + random.pick(["", "", " ", "\t"]) + "\r\n"
    }

    private mutating func framing() -> String {
        random.pick(["Content-Length", "content-LENGTH", "Transfer-Encoding", "transfer-encoding", "Content-Length "])
            + ": "
            + random.pick([
                "0", "5", "05", "5, 5", "5,6", "+5", "-1", "0x5", "9223372036854775807", "18446744073709551616", "5 5",
                "",
                "chunked", "Chunked", "chunked,", "gzip, chunked", "chunked, chunked", "identity", "xchunked",
                "chunked;q=1",
            ]) + "\r\n"
    }

    private mutating func mutate(_ octets: inout [UInt8]) {
        guard !octets.isEmpty else { return }
        let poison: [UInt8] = random.pick(
            [
                [13], [10], [13, 10], [0], [32], [9], [11], [12], [0x85], [0xA0], [0x7F], [0x3A], [0x2C], [0x30],
                [0x3B], [0x22],
            ] as [[UInt8]]
        )
        let delimiters = octets.indices.filter { [13, 10, 32, 0x3A, 0x2C, 0x3B, 0x30].contains(octets[$0]) }
        let place = delimiters.isEmpty || random.below(4) == 0 ? random.below(octets.count) : random.pick(delimiters)
        switch random.below(6) {
        case 0: octets.insert(contentsOf: poison, at: place)
        case 1: octets.replaceSubrange(place...place, with: poison)
        case 2: octets.remove(at: place)
        case 3: octets.removeSubrange(place...)
        case 4: octets[place] = UInt8(random.below(256))
        default:
            let end = min(octets.count, place + random.below(30))
            octets.insert(contentsOf: octets[place..<end], at: random.below(octets.count))
        }
    }
}
