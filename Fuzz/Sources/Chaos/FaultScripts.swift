import ScriptedPeer

/// What a faulty server does with a connection, by chance.
enum FaultScripts {
    static func random(_ dice: inout Dice) -> RawScript {
        let answer = Array(answers[dice.below(answers.count)].utf8)
        switch dice.below(10) {
        case 0: return .silent
        case 1: return [.reset]
        case 2: return [.receive(.headEnd), .close]
        case 3: return [.send(noise(&dice)), .finish]
        case 4: return .answering(answer)
        case 5: return [.pieces(of: 1 + dice.below(7)), .receive(.headEnd), .send(answer), .finish]
        case 6: return [.receive(.headEnd), .send(answer), .send(noise(&dice)), .stall]
        case 7: return [.receive(.headEnd), .send(answer), .pause(.milliseconds(dice.below(40))), .close]
        default:
            let ending = RawEnding.allCases[dice.below(RawEnding.allCases.count)]
            return .cutting(answer, at: dice.below(answer.count + 1), ending: ending)
        }
    }

    private static func noise(_ dice: inout Dice) -> [UInt8] {
        (0...dice.below(300)).map { _ in UInt8(dice.below(256)) }
    }

    /// Good and bad answers.
    private static let answers: [String] = [
        head(200, "content-length: 5") + "whole",
        head(200, "transfer-encoding: chunked") + "5\r\nwhole\r\n0\r\n\r\n",
        head(200, "transfer-encoding: chunked") + "5\r\nwhole\r\nfffffffffffffffff\r\n",
        head(200, "transfer-encoding: gzip, chunked") + "3\r\nabc\r\n0\r\n\r\n",
        head(200, "content-length: 5\r\ncontent-length: 6") + "whole",
        head(200, "content-length: -1") + "whole",
        head(200, "content-length: 99999999999999999999") + "whole",
        head(200, "content-encoding: gzip\r\ncontent-length: 9") + "not gzip!",
        head(200, "content-encoding: deflate, gzip\r\ncontent-length: 0"),
        head(200, "content-range: bytes 5-1/3\r\ncontent-length: 1") + "x",
        head(204, "content-length: 3") + "abc",
        head(206, "content-range: bytes 0-4/5\r\ncontent-length: 5") + "whole",
        head(301, "location: /again\r\ncontent-length: 0"),
        head(302, "location: http://[::1/\r\ncontent-length: 0"),
        head(302, "location: file:///etc/passwd\r\ncontent-length: 0"),
        head(304, "etag: \"a\""),
        head(401, "www-authenticate: Basic realm=\"x\"\r\ncontent-length: 0"),
        head(401, "www-authenticate: Digest realm=\"x\", nonce=\"\\\"\", qop=\"auth,auth-int\"\r\ncontent-length: 0"),
        head(407, "proxy-authenticate: Basic realm=x\r\ncontent-length: 0"),
        head(503, "retry-after: 99999999999\r\ncontent-length: 0"),
        head(100, "") + head(103, "link: </a>") + head(200, "content-length: 5") + "whole",
        String(repeating: head(103, "x: y"), count: 200) + head(200, "content-length: 0"),
        head(101, "upgrade: websocket\r\nconnection: upgrade"),
        head(200, "set-cookie: a=b; max-age=-1\r\ncache-control: max-age=99999999999\r\ncontent-length: 5") + "whole",
        "HTTP/1.1 200\r\n\r\n" + String(repeating: "z", count: 10_000),
        "HTTP/9.9 200 OK\r\n\r\n", "\r\n\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\nx: y\n\nbare",
        "HTTP/1.1 200 OK\r\n" + String(repeating: "x: y\r\n", count: 5_000) + "\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\n x: folded\r\n\r\n",
    ]

    private static func head(_ status: Int, _ fields: String) -> String {
        "HTTP/1.1 \(status) Chaos\r\n\(fields.isEmpty ? "" : fields + "\r\n")\r\n"
    }
}
