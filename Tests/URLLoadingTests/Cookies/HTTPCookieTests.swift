import Foundation
import Testing

@testable import URLLoading

@Suite("HTTPCookie")
struct HTTPCookieTests {
    private let minimum: [HTTPCookiePropertyKey: Any] = [
        .name: "n", .value: "v w@#$%^$&*", .path: "/", .domain: "Apple.com",
    ]

    private func cookie(_ more: [HTTPCookiePropertyKey: Any] = [:]) throws -> HTTPCookie {
        try #require(HTTPCookie(properties: minimum.merging(more) { $1 }))
    }

    private func parsed(_ line: String, _ url: String = "https://example.com") throws -> [HTTPCookie] {
        HTTPCookie.cookies(
            withResponseHeaderFields: ["set-COOKIE": line, "x": "y"],
            for: try #require(URL(string: url))
        )
    }

    @Test("a cookie needs at least a name, a value, a path and a domain")
    func least() throws {
        let made = try cookie()
        #expect(
            made.name == "n" && made.value == "v w@#$%^$&*" && made.path == "/" && made.domain == "apple.com"
        )
        #expect(made.version == 0 && !made.isSecure && !made.isHTTPOnly && !made.isSessionOnly)
        #expect(
            made.expiresDate == nil && made.portList == nil && made.comment == nil && made.commentURL == nil
        )
        #expect(made.sameSitePolicy == nil)
        for key in minimum.keys {
            #expect(HTTPCookie(properties: minimum.filter { $0.key != key }) == nil, "\(key)")
        }
    }

    @Test("the origin gives the domain if none is given, as a URL or as a String")
    func originURL() throws {
        for origin in [
            URL(string: "https://Apple.com/x") as Any, "https://apple.com", Substring("http://apple.com:80/"),
        ] {
            var properties = minimum
            properties[.domain] = nil
            properties[.originURL] = origin
            #expect(HTTPCookie(properties: properties)?.domain == "apple.com")
            properties[.domain] = "other.com"
            #expect(HTTPCookie(properties: properties)?.domain == "other.com")
        }
    }

    @Test(
        "what would be sent as another cookie, or as several, is none: controls, and what ends a value",
        arguments: ["a\r\nb", "a\0", "a\nb", "\u{7F}", "v; admin=1", ";"]
    )
    func controls(text: String) {
        for key in minimum.keys {
            #expect(HTTPCookie(properties: minimum.merging([key: text]) { $1 }) == nil)
        }
    }

    @Test("a name with an equals sign makes no cookie; a value with one does")
    func equalsSigns() throws {
        #expect(HTTPCookie(properties: minimum.merging([.name: "a=b"]) { $1 }) == nil)
        #expect(try cookie([.value: "a=b"]).value == "a=b")
    }

    @Test("secure is given as a Bool or in words")
    func secure() throws {
        for yes in [true as Any, "TRUE", "YES", "1", NSNumber(value: 1)] {
            #expect(try cookie([.secure: yes]).isSecure)
        }
        for no in [false as Any, "", "FALSE", "false", "NO", "0", NSNumber(value: 0)] {
            #expect(try !cookie([.secure: no]).isSecure)
        }
        #expect(try cookie([HTTPCookiePropertyKey("HttpOnly"): "TRUE"]).isHTTPOnly)
    }

    @Test("Max-Age applies to version 1; version 0 has its date")
    func ages() throws {
        let now = Date()
        let date = Date(timeIntervalSince1970: 2_000_000_000)
        #expect(try cookie([.maximumAge: "100", .expires: date]).expiresDate == date)
        let aged = try cookie([.maximumAge: "100", .expires: date, .version: "1"])
        #expect(try #require(aged.expiresDate).timeIntervalSince(now) < 200)
        #expect(!aged.isSessionOnly)
        #expect(try cookie([.version: 1]).isSessionOnly)
        #expect(try cookie([.expires: "Wed, 18 May 2033 03:33:20 GMT"]).expiresDate == date)
        #expect(try cookie([.expires: "soon"]).expiresDate == nil)
        let huge = try cookie([.maximumAge: String(repeating: "9", count: 400), .version: "1"])
        #expect(huge.expiresDate == nil)
    }

    @Test("a cookie to be discarded has no date")
    func discard() throws {
        let made = try cookie([.discard: "TRUE", .expires: Date(timeIntervalSince1970: 1000), .maximumAge: "2000"])
        #expect(made.isSessionOnly)
        #expect(made.expiresDate == nil)
        #expect(try !self.cookie([.discard: "FALSE", .version: "1"]).isSessionOnly)
    }

    @Test("version 0 has one port, version 1 a list")
    func ports() throws {
        #expect(try cookie([.port: "443,8443"]).portList == [443])
        #expect(try cookie([.port: "443, 8443", .version: "1"]).portList == [443, 8443])
        #expect(try cookie([.port: [NSNumber(value: 80)]]).portList == [80])
        for nonsense in ["", "x", "0", "65536", "-1"] { #expect(try cookie([.port: nonsense]).portList == nil) }
    }

    @Test("a cookie made from another's properties is equal to it")
    func properties() throws {
        let all: [HTTPCookiePropertyKey: Any] = [
            .domain: ".a.test", .version: "1", .maximumAge: "100", .comment: "c", .commentURL: "http://c.test/",
            .port: "80,443",
            .secure: "TRUE", .sameSitePolicy: HTTPCookieStringPolicy.sameSiteStrict, .originURL: "http://a.test/",
            HTTPCookiePropertyKey("HttpOnly"): "TRUE",
        ]
        for made in try [cookie(), cookie(all), cookie([.discard: "TRUE"])] {
            let copy = try #require(HTTPCookie(properties: made.properties ?? [:]))
            #expect(copy == made)
            #expect(copy.hash == made.hash)
            #expect(copy.properties?.keys == made.properties?.keys)
        }
        let full = try cookie(all)
        #expect(full.domain == ".a.test")
        #expect(full.sameSitePolicy == .sameSiteStrict)
        #expect(full.commentURL?.host == "c.test")
        #expect(full.properties?[.secure] as? Bool == true)
        #expect(full.properties?[.originURL] as? URL == URL(string: "http://a.test/"))
        #expect(try full != cookie())
    }

    @Test("SameSite is told by word or by type, and None is no policy")
    func sameSite() throws {
        #expect(try cookie([.sameSitePolicy: "Lax"]).sameSitePolicy == .sameSiteLax)
        #expect(try cookie([.sameSitePolicy: "None"]).sameSitePolicy == nil)
        #expect(try parsed("a=b; SameSite=Strict").first?.sameSitePolicy == .sameSiteStrict)
    }

    @Test("the Cookie field of some cookies, in their order")
    func requestHeaderFields() throws {
        #expect(HTTPCookie.requestHeaderFields(with: []).isEmpty)
        let cookies = try parsed("b=1, a=2")
        #expect(HTTPCookie.requestHeaderFields(with: cookies) == ["Cookie": "b=1; a=2"])
    }

    @Test("cookies of a response are told apart at line feeds too; those without a name are left out")
    func joined() throws {
        #expect(try parsed("b=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT\na=2\r\n=bare\nbare").map(\.name) == ["b", "a"])
    }

    @Test("the cookies of a response are read for any host")
    func responses() throws {
        let cookies = try parsed(
            "fr=a&2@#; Max-Age=1186000; path=/; domain=.example.com; secure, xd=plm!@#;path=/;domain=.example2.com"
        )
        #expect(cookies.map(\.name) == ["fr", "xd"])
        #expect(cookies.map(\.domain) == [".example.com", ".example2.com"])
        #expect(cookies.map(\.isSecure) == [true, false])
        #expect(HTTPCookie.cookies(withResponseHeaderFields: [:], for: URL(filePath: "/")).isEmpty)
        #expect(HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "a=b"], for: URL(filePath: "/")).isEmpty)
    }

    @Test("domains as FoundationNetworking shows them")
    func domains() throws {
        #expect(try parsed("a=b; domain=eXample.com").first?.domain == ".example.com")
        #expect(try parsed("a=b").first?.domain == "example.com")
        #expect(try parsed("a=b; domain=1.2.3.4").first?.domain == "1.2.3.4")
        #expect(try parsed("a=b", "https://example.com/x/y").first?.path == "/x")
    }

    @Test("commas in values and dates, and names with blanks")
    func folded() throws {
        let cookies = try parsed(
            "AAA =111; path=/; expires=Sun, 16-Aug-2025 22:39:54 GMT, BBB=222; HttpOnly; expires=Sat, 15-Feb-2014 22:39:54 GMT"
        )
        #expect(cookies.map(\.name) == ["AAA", "BBB"])
        #expect(cookies.map(\.value) == ["111", "222"])
        #expect(cookies.last?.expiresDate == Date(timeIntervalSince1970: 1_392_503_994))
        let commented = try parsed("n=v; Comment=real value, tok@en=second; CommentURL=https://example.com/second")
        #expect(commented.map(\.comment) == ["real value, tok@en=second"])
        #expect(commented.first?.commentURL == URL(string: "https://example.com/second"))
    }

    @Test("it describes itself as the original does")
    func description() throws {
        #expect(
            try cookie([.version: "1", .port: "80,443", .discard: "TRUE", .comment: "c"]).description
                == #"<HTTPCookie version:1 name:"n" value:"v w@#$%^$&*" expiresDate:nil sessionOnly:true "#
                + #"domain:"apple.com" path:"/" isSecure:false comment:c ports:{ 80,443 }>"#
        )
    }
}
