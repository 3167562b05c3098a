internal import Uncurl
internal import UncurlText

/// The parts of HTTP Archive 1.2 that exchanges need. Files that browsers and proxies export can be replayed: what
/// replaying does not use is optional, since they leave some of it out.
struct HAR: Codable, Sendable {
    struct Log: Codable, Sendable {
        var version: String? = "1.2"
        var creator: Creator? = Creator()
        var entries: [Entry] = []
    }

    struct Creator: Codable, Sendable {
        var name: String? = "Uncurl"
        var version: String? = "1"
    }

    struct Entry: Codable, Sendable {
        var startedDateTime: String?
        /// In milliseconds.
        var time: Double?
        var request: Request
        var response: Response
        var cache: Nothing? = Nothing()
        var timings: Timings? = Timings()
        /// The failure of an exchange without a response. The format itself has no field for it.
        var _error: Failure?
    }

    struct Nothing: Codable, Sendable {}

    struct Timings: Codable, Sendable {
        var send: Double? = 0
        var wait: Double? = 0
        var receive: Double? = 0
    }

    struct Failure: Codable, Sendable {
        var code: Int
        var words: String
    }

    struct Field: Codable, Sendable, Hashable {
        var name: String
        var value: String
    }

    struct Request: Codable, Sendable {
        var method: String
        var url: String
        var httpVersion: String? = "HTTP/1.1"
        var cookies: [Nothing]? = []
        var headers: [Field]
        var queryString: [Field]? = []
        var postData: Content?
        var headersSize: Int? = -1
        var bodySize: Int?
    }

    struct Response: Codable, Sendable {
        var status: Int
        var statusText: String? = ""
        var httpVersion: String? = "HTTP/1.1"
        var cookies: [Nothing]? = []
        var headers: [Field]
        var content: Content
        var redirectURL: String? = ""
        var headersSize: Int? = -1
        var bodySize: Int?
    }

    struct Content: Codable, Sendable {
        var size: Int?
        var mimeType: String?
        var text: String?
        /// `base64`; nil for text.
        var encoding: String?

        /// Text is stored as text, so that people can read and change it.
        init(_ data: Data, mimeType: String?) {
            size = data.count
            self.mimeType = mimeType
            if let text = String(validating: data, as: UTF8.self) {
                self.text = text
            } else {
                text = data.base64EncodedString()
                encoding = "base64"
            }
        }

        /// The content; nil where its Base64 is malformed.
        var data: Data? {
            // Compares octets: a text with many combining marks takes long to compare.
            guard let encoding, encoding.utf8.elementsEqual("base64".utf8) else { return Data((text ?? "").utf8) }
            return Data(base64Encoded: text ?? "", options: .ignoreUnknownCharacters)
        }
    }

    var log = Log()

    /// Reads an archive. A name with more than ``MarkRun/limit`` combining marks in a row is refused: the decoder would
    /// take long for it.
    static func read(_ data: Data) throws -> HAR {
        try JSONReader.check(data.span, loneSurrogates: true)
        return try JSONDecoder().decode(HAR.self, from: data)
    }
}
