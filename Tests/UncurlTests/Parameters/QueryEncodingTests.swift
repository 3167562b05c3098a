import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("Query strings")
struct QueryEncodingTests {
    private static let example: Parameters = [
        "name": "bang",
        "phone": ["mobile": "xx", "home": "xx"],
        "families": ["father", "mother"],
        "nums": .set([1, 2]),
    ]

    @Test("the example of the documentation is encoded as shown", .rows("Q10"))
    func workedExample() throws {
        let expected = "families%5B%5D=father&families%5B%5D=mother&name=bang&nums=1&nums=2&phone%5Bhome%5D=xx"
        #expect(try QueryEncoding().string(Self.example) == expected + "&phone%5Bmobile%5D=xx")
    }

    @Test(
        "everything but letters, digits and -._~/? is escaped, octet by octet, in upper case",
        .rows("Q9"),
        arguments: [
            (" :#[]@!$&'()*+,;=/?", "%20%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D/?"),
            ("-._~/?azAZ09", "-._~/?azAZ09"),
            ("a%20b", "a%2520b"),
            ("é", "%C3%A9"),
            ("e\u{301}", "e%CC%81"),
            ("👩‍👩‍👧", "%F0%9F%91%A9%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7"),
            ("\u{0}\r\n\"<>\\^`{|}", "%00%0D%0A%22%3C%3E%5C%5E%60%7B%7C%7D"),
            ("", ""),
        ]
    )
    func escaping(text: String, escaped: String) {
        #expect(QueryEncoding.escaped(text) == escaped)
    }

    @Test("escaping cuts no character, however long the text", .rows("Q9"))
    func longText() {
        let family = "👩‍👩‍👧"
        let expected = String(repeating: QueryEncoding.escaped(family), count: 40)
        #expect(QueryEncoding.escaped(String(repeating: family, count: 40)) == expected)
    }

    @Test("escaping one string and making a query of a dictionary are public", .rows("Q14"))
    func helpers() throws {
        #expect(QueryEncoding.escaped("a b") == "a%20b")
        let fields: [String: Parameters] = ["b": 2, "a": 1]
        #expect(try QueryEncoding().string(Parameters(fields)) == "a=1&b=2")
    }

    @Test(
        "names and leaves",
        .rows("Q7"),
        arguments: [
            (["b": 1, "a": 2, "B": 3], "B=3&a=2&b=1"),
            (["k": ["z": 1, "a": ["y": 2, "b": 3]]], "k[a][b]=3&k[a][y]=2&k[z]=1"),
            (["k": ["c", "a", "b"]], "k[]=c&k[]=a&k[]=b"),
            (["k": [["x": 1], ["x": 2]]], "k[][x]=1&k[][x]=2"),
            (["k": [[1, 2], [3]]], "k[][]=1&k[][]=2&k[][]=3"),
            (["k": .set(["b", "a", 10, 2])], "k=10&k=2&k=a&k=b"),
            (["k": .null], "k"),
            (["k": ""], "k="),
            (["k": true, "l": false], "k=1&l=0"),
            (["k": [], "l": [:], "m": .set([])], ""),
            ([:], ""),
            (["k": 1.5, "l": 1.0, "m": -7, "n": 1e20], "k=1.5&l=1&m=-7&n=1e+20"),
            (["k": .unsigned(.max)], "k=18446744073709551615"),
            (["k": .decimal(Decimal(string: "12345678901234567890.12")!)], "k=12345678901234567890.12"),
        ] as [(Parameters, String)]
    )
    func flattening(parameters: Parameters, plain: String) throws {
        let text = try QueryEncoding().pairs(parameters).map { pair in
            pair.value.map { "\(pair.name)=\($0)" } ?? pair.name
        }
        .joined(separator: "&")
        #expect(text == plain)
        #expect(try QueryEncoding().string(parameters).removingPercentEncoding == plain)
    }

    @Test(
        "parameters without names are an error and no `(null)[]`",
        .rows("Q8"),
        arguments: [[1, 2], "text", 1, nil] as [Parameters]
    )
    func notKeyed(parameters: Parameters) {
        let error = #expect(throws: ParameterFailure.self) { try QueryEncoding().string(parameters) }
        guard case .notKeyed? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(
        "order is the same in every run, and sorting names leaves the elements of arrays where they are",
        .rows("D16")
    )
    func stableOrder() throws {
        let numbers = Array((0..<40).map { Parameters.integer(Int64(($0 * 7) % 40)) })
        let expected = (0..<40).map { "k[]=\(($0 * 7) % 40)" }.joined(separator: "&")
        let set = Set((0..<40).map { "v\($0)" })
        let text = try QueryEncoding().string(["k": .array(numbers)])
        #expect(text.removingPercentEncoding == expected)
        let sorted = set.sorted().map { "s=\($0)" }.joined(separator: "&")
        #expect(try QueryEncoding().string(Parameters(encoding: ["s": set])) == sorted)
    }

    @Test("arrays, nested names, Booleans, null, spaces and order are written in each style", .rows("B17"))
    func styles() throws {
        let parameters: Parameters = ["b": ["y", "x"], "a": ["k": true], "n": nil, "s": "1 2"]
        func text(_ change: (inout QueryEncoding) -> Void) throws -> String {
            var encoding = QueryEncoding()
            change(&encoding)
            return try encoding.string(parameters).replacing("%5B", with: "[").replacing("%5D", with: "]")
        }
        #expect(try text { _ in } == "a[k]=1&b[]=y&b[]=x&n&s=1%202")
        #expect(try text { $0.arrays = .bare } == "a[k]=1&b=y&b=x&n&s=1%202")
        #expect(try text { $0.arrays = .indexed } == "a[k]=1&b[0]=y&b[1]=x&n&s=1%202")
        #expect(try text { $0.arrays = .custom { "\($0)-\($1)" } } == "a[k]=1&b-0=y&b-1=x&n&s=1%202")
        #expect(try text { $0.nesting = .dots } == "a.k=1&b[]=y&b[]=x&n&s=1%202")
        #expect(try text { $0.nesting = .custom { "\($0)~\($1)" } } == "a~k=1&b[]=y&b[]=x&n&s=1%202")
        #expect(try text { $0.booleans = .literal } == "a[k]=true&b[]=y&b[]=x&n&s=1%202")
        #expect(try text { $0.nulls = .omitted } == "a[k]=1&b[]=y&b[]=x&s=1%202")
        #expect(try text { $0.nulls = .emptyValue } == "a[k]=1&b[]=y&b[]=x&n=&s=1%202")
        #expect(try text { $0.nulls = .literal } == "a[k]=1&b[]=y&b[]=x&n=null&s=1%202")
        #expect(try text { $0.spaces = .plus } == "a[k]=1&b[]=y&b[]=x&n&s=1+2")
        #expect(try text { $0.order = .asGiven } == "b[]=y&b[]=x&a[k]=1&n&s=1%202")
    }

    @Test(
        "seven spellings of a name",
        .rows("B17"),
        arguments: [
            (KeyStyle.asGiven, "myURLValue2"), (.snakeCase, "my_url_value2"), (.kebabCase, "my-url-value2"),
            (.capitalized, "MyURLValue2"), (.uppercased, "MYURLVALUE2"), (.lowercased, "myurlvalue2"),
            (.custom { "x" + $0 }, "xmyURLValue2"),
        ]
    )
    func keyStyles(style: KeyStyle, expected: String) throws {
        var encoding = QueryEncoding()
        encoding.keys = style
        #expect(try encoding.string(["myURLValue2": 1]) == expected + "=1")
    }

    @Test(
        "six styles of a date",
        .rows("B17"),
        arguments: [
            (DateStyle.iso8601, "2001-01-01T00:00:10Z"), (.description, "2001-01-01 00:00:10 +0000"),
            (.secondsSinceReferenceDate, "10.5"), (.secondsSince1970, "978307210.5"),
            (.millisecondsSince1970, "978307210500"), (.formatted { "\($0.timeIntervalSinceReferenceDate)!" }, "10.5!"),
        ]
    )
    func dateStyles(style: DateStyle, expected: String) throws {
        var encoding = QueryEncoding()
        encoding.dates = style
        let pairs = try encoding.pairs(["d": .date(Date(timeIntervalSinceReferenceDate: 10.5))])
        #expect(pairs.map(\.value) == [expected])
    }

    @Test(
        "bytes as base64, hexadecimal or any other text",
        .rows("B17"),
        arguments: [
            (DataStyle.base64, "/wA="), (.hexadecimal, "ff00"), (.formatted { "\($0.count)" }, "2"),
        ]
    )
    func dataStyles(style: DataStyle, expected: String) throws {
        var encoding = QueryEncoding()
        encoding.data = style
        #expect(try encoding.pairs(["d": .data(Data([255, 0]))]).map(\.value) == [expected])
    }

    @Test(
        "a value that has no text is an error that names its parameter",
        arguments: [
            .double(.nan), .double(-.infinity), .date(Date(timeIntervalSince1970: .infinity)),
            .date(Date(timeIntervalSince1970: 1e300)), .decimal(.nan),
        ] as [Parameters]
    )
    func inexpressible(value: Parameters) {
        let error = #expect(throws: ParameterFailure.self) { try QueryEncoding().string(["a": ["b": [value]]]) }
        #expect(error?.description.contains("a[b][]") == true)
    }

    @Test("an error that a style throws is the failure's cause")
    func thrownByStyle() {
        var encoding = QueryEncoding()
        encoding.data = .formatted { _ in throw CocoaError(.coderInvalidValue) }
        let error = #expect(throws: ParameterFailure.self) { try encoding.string(["k": .data(Data())]) }
        guard case .thrown(let cause)? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause is CocoaError)
    }

    @Test("nesting without end is an error and no overflow of the stack")
    func deep() {
        var value: Parameters = 1
        for _ in 0..<600 { value = [value] }
        #expect(throws: ParameterFailure.self) { try QueryEncoding().string(["k": value]) }
        #expect(throws: ParameterFailure.self) { try JSONEncoding().data(value) }
        #expect(throws: UncurlError.self) {
            try PropertyListRequestSerializer().serialize(value, into: Self.post)
        }
        #expect(throws: UncurlError.self) {
            try EncodableRequestSerializer(encoder: JSONEncoder()).serialize(value, into: Self.post)
        }
    }

    private static var post: URLRequest {
        var request = URLRequest(url: URL(string: "http://h/")!)
        request.httpMethod = "POST"
        return request
    }

    @Test("a date that is not finite is an error and not omitted")
    func endlessDates() {
        var encoding = QueryEncoding()
        encoding.dates = .millisecondsSince1970
        #expect(throws: ParameterFailure.self) {
            try encoding.string(["date": .date(Date(timeIntervalSince1970: 1e306))])
        }
    }
}
