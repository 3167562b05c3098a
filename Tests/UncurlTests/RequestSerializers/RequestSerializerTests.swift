import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("Request serializers")
struct RequestSerializerTests {
    private func request(_ method: String = "GET", _ url: String = "http://h/p") -> URLRequest {
        var request = URLRequest(url: URL(string: url)!)
        request.httpMethod = method
        return request
    }

    private func body(_ request: URLRequest) -> String? {
        request.httpBody.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "GET, HEAD and DELETE have their parameters in the query, whatever the method's case",
        .rows("Q1"),
        arguments: ["GET", "HEAD", "DELETE", "get", "delete"]
    )
    func queryMethods(method: String) throws {
        let made = try HTTPRequestSerializer().serialize(["a": 1], into: request(method))
        #expect(made.url?.absoluteString == "http://h/p?a=1")
        #expect(made.httpBody == nil)
        #expect(made.value(forHTTPHeaderField: "Content-Type") == nil)
    }

    @Test(
        "a query goes behind the one that is there, an empty one too, and always before the fragment",
        .rows("Q11", "D16"),
        arguments: [
            ("http://h/p", "http://h/p?a=1"), ("http://h/p?x=y", "http://h/p?x=y&a=1"),
            ("http://h/p?", "http://h/p?&a=1"),
            ("http://h/p#frag", "http://h/p?a=1#frag"), ("http://h/p?x#f?g", "http://h/p?x&a=1#f?g"),
            ("http://h", "http://h?a=1"), ("http://u:p@h:8/p?x=%20", "http://u:p@h:8/p?x=%20&a=1"),
        ]
    )
    func placement(url: String, expected: String) throws {
        let made = try HTTPRequestSerializer().serialize(["a": 1], into: request("GET", url))
        #expect(made.url?.absoluteString == expected)
    }

    @Test("without parameters the URL stays as it is", .rows("Q11"), arguments: [nil, [:], ["k": []]] as [Parameters?])
    func emptyQuery(parameters: Parameters?) throws {
        let made = try HTTPRequestSerializer().serialize(parameters, into: request("GET", "http://h/p#f"))
        #expect(made.url?.absoluteString == "http://h/p#f")
    }

    @Test("other methods have a form", .rows("Q12"), arguments: ["POST", "PUT", "PATCH", "QUERY"])
    func form(method: String) throws {
        let made = try HTTPRequestSerializer().serialize(["a": "x y", "b": [1]], into: request(method))
        #expect(made.url?.absoluteString == "http://h/p")
        #expect(body(made) == "a=x%20y&b%5B%5D=1")
        #expect(made.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded")
    }

    @Test(
        "a form without parameters is an empty body, and not none",
        .rows("Q12"),
        arguments: [nil, [:]] as [Parameters?]
    )
    func emptyForm(parameters: Parameters?) throws {
        let made = try HTTPRequestSerializer().serialize(parameters, into: request("POST"))
        #expect(made.httpBody == Data())
        #expect(made.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded")
    }

    @Test("an existing body stays if there are no parameters")
    func foreignBody() throws {
        var given = request("POST")
        given.httpBody = Data("own".utf8)
        let made = try HTTPRequestSerializer().serialize(nil, into: given)
        #expect(body(made) == "own")
        #expect(made.value(forHTTPHeaderField: "Content-Type") == nil)
    }

    @Test("an existing content type stays", .rows("Q5", "A13"))
    func contentType() throws {
        var given = request("POST")
        given.setValue("x/y", forHTTPHeaderField: "content-type")
        for serializer: any RequestSerializer in [.form, .json, .propertyList, .encoding(with: JSONEncoder())] {
            let made = try serializer.serialize(["a": 1], into: given)
            #expect(made.value(forHTTPHeaderField: "Content-Type") == "x/y")
        }
    }

    @Test(
        "the placement decides: a POST's parameters go into the query, a GET's and a DELETE's into the body",
        .rows("A13")
    )
    func explicitPlacement() throws {
        let query = try HTTPRequestSerializer(placement: .query).serialize(["a": 1], into: request("POST"))
        #expect(query.url?.query == "a=1" && query.httpBody == nil)
        for method in ["GET", "DELETE"] {
            let made = try HTTPRequestSerializer(placement: .body).serialize(["a": 1], into: request(method))
            #expect(made.url?.query == nil && body(made) == "a=1")
        }
    }

    @Test("a query of the user's own, in the URL and in the body; its `#` begins no fragment", .rows("Q13"))
    func customQuery() throws {
        let serializer = HTTPRequestSerializer(
            query: .custom { request, parameters in
                "\(request.httpMethod ?? "")#\(parameters["a"] == 1)"
            }
        )
        let made = try serializer.serialize(["a": 1], into: request("GET", "http://h/p#f"))
        #expect(made.url?.absoluteString == "http://h/p?GET%23true#f")
        #expect(body(try serializer.serialize(["a": 1], into: request("POST"))) == "POST#true")
    }

    @Test(
        "an error of a custom query ends the request; the failure carries the error and the request",
        .rows("Q13", "Q20")
    )
    func customQueryThrows() {
        let serializer = HTTPRequestSerializer(query: .custom { _, _ in throw CocoaError(.coderInvalidValue) })
        let error = #expect(throws: UncurlError.self) { try serializer.serialize(["a": 1], into: request("POST")) }
        guard case .parameters(let failure)? = error, case .thrown(let cause) = failure.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause is CocoaError)
        #expect(failure.request?.url?.absoluteString == "http://h/p")
        let bridged = failure as NSError
        #expect(bridged.domain == "com.alamofire.error.serialization.request" && bridged.code == -1016)
        #expect(bridged.userInfo["com.alamofire.serialization.request.error.response"] is URLRequest)
    }

    @Test("the body is in the string encoding", .rows("Q12"))
    func stringEncoding() throws {
        var serializer = HTTPRequestSerializer(query: .custom { _, _ in "ä" })
        serializer.stringEncoding = .isoLatin1
        #expect(try serializer.serialize(["a": 1], into: request("POST")).httpBody == Data([0xE4]))
        serializer.stringEncoding = .ascii
        #expect(throws: UncurlError.self) { try serializer.serialize(["a": 1], into: request("POST")) }
    }

    @Test("JSON in the body of methods that have one, a query for the others", .rows("Q17"))
    func json() throws {
        let serializer = JSONRequestSerializer()
        let made = try serializer.serialize(["b": [1, nil], "a": "x"], into: request("POST"))
        #expect(body(made) == #"{"b":[1,null],"a":"x"}"#)
        #expect(made.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(try serializer.serialize(["a": 1], into: request("GET")).url?.query == "a=1")
        #expect(body(try serializer.serialize([1, 2], into: request("POST"))) == "[1,2]")
    }

    @Test("without parameters neither body nor content type, unlike a form", .rows("Q17", "Q18"))
    func documentWithoutParameters() throws {
        for serializer: any RequestSerializer in [.json, .propertyList, .encoding(with: JSONEncoder())] {
            let made = try serializer.serialize(nil, into: request("POST"))
            #expect(made.httpBody == nil)
            #expect(made.value(forHTTPHeaderField: "Content-Type") == nil)
            #expect(made.value(forHTTPHeaderField: "User-Agent") != nil)
        }
    }

    @Test("JSON in the body whatever the method, where that is asked for; what JSON has not is an error", .rows("A14"))
    func jsonPlacement() throws {
        let serializer = JSONRequestSerializer(http: HTTPRequestSerializer(placement: .body))
        #expect(body(try serializer.serialize(["a": 1], into: request("GET"))) == #"{"a":1}"#)
        let error = #expect(throws: UncurlError.self) {
            try serializer.serialize(["a": [["b": .double(.nan)]]], into: request("POST"))
        }
        guard case .parameters(let failure)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.description == "parameter a[0].b is nan, for which there is no text")
        #expect(failure.request != nil)
    }

    @Test("a property list in the body; null, which a property list lacks, is an error", .rows("Q18"))
    func propertyList() throws {
        let parameters: Parameters = [
            "s": "x", "n": -1, "u": .unsigned(.max), "r": 1.5, "t": true, "d": .data(Data([1])), "l": [1, 2],
            "w": .date(Date(timeIntervalSinceReferenceDate: 0)),
        ]
        for format in [PropertyListRequestSerializer.Format.xml, .binary] {
            let made = try PropertyListRequestSerializer(format: format).serialize(parameters, into: request("POST"))
            #expect(made.value(forHTTPHeaderField: "Content-Type") == "application/x-plist")
            let value = try PropertyListValue(reading: try #require(made.httpBody))
            let expected: PropertyListValue = .dictionary([
                "s": .string("x"), "n": .integer(-1), "u": .unsigned(.max), "r": .real(1.5), "t": .bool(true),
                "d": .data(Data([1])),
                "l": .array([.integer(1), .integer(2)]), "w": .date(Date(timeIntervalSinceReferenceDate: 0)),
            ])
            #expect(value == expected)
        }
        #expect(throws: UncurlError.self) {
            try PropertyListRequestSerializer().serialize(["a": nil], into: request("POST"))
        }
        #expect(try PropertyListRequestSerializer().serialize(["a": 1], into: request()).url?.query == "a=1")
    }

    private struct User: Codable, Equatable {
        var userName: String
        var since: Date?
    }

    @Test("a value is encoded by any encoder, by the encoder's own rules")
    func encodable() throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let serializer = EncodableRequestSerializer(encoder: encoder)
        let made = try serializer.serialize(encoding: User(userName: "n"), into: request("POST"))
        #expect(body(made) == #"{"user_name":"n"}"#)
        #expect(made.value(forHTTPHeaderField: "Content-Type") == "application/json")
        let list = try EncodableRequestSerializer(encoder: PropertyListEncoder())
            .serialize(encoding: User(userName: "n"), into: request("POST"))
        #expect(try PropertyListDecoder().decode(User.self, from: list.httpBody ?? Data()) == User(userName: "n"))
        let query = try serializer.serialize(encoding: User(userName: "n"), into: request("GET"))
        #expect(query.url?.query == "userName=n")
    }

    @Test("any serializer takes a value, by its own rules")
    func encodableByOthers() throws {
        let user = User(userName: "n", since: Date(timeIntervalSince1970: 0))
        let serializers: [any RequestSerializer] = [.form, .json]
        let bodies = try serializers.map { body(try $0.serialize(encoding: user, into: request("POST"))) }
        #expect(
            bodies == [
                "since=1970-01-01T00%3A00%3A00Z&userName=n",
                #"{"userName":"n","since":"1970-01-01T00:00:00Z"}"#,
            ]
        )
    }

    @Test("an encoder that is changed later does not change the serializer that has it", .rows("D7"))
    func encoderSnapshot() throws {
        let encoder = JSONEncoder()
        let serializer = EncodableRequestSerializer(encoder: encoder)
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let made = try serializer.serialize(encoding: User(userName: "n"), into: request("POST"))
        #expect(body(made) == #"{"userName":"n"}"#)
    }

    @Test("any encoder writes parameters by their meaning")
    func parametersByEncoder() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .secondsSince1970
        let parameters: Parameters = [
            "a": [1, nil, "x", true, 1.5], "b": .data(Data([255])), "c": .date(Date(timeIntervalSince1970: 1)),
            "d": .decimal(Decimal(string: "0.1")!), "e": .unsigned(.max), "f": .set([1]),
        ]
        let made = try EncodableRequestSerializer(encoder: encoder).serialize(parameters, into: request("POST"))
        let expected = #"{"a":[1,null,"x",true,1.5],"b":"/w==","c":1,"d":0.1,"e":18446744073709551615,"f":[1]}"#
        #expect(body(made) == expected)
    }
}
