import Foundation
import Testing

@testable import UncurlSemantics

@Suite("CookieAdmission")
struct CookieAdmissionTests {
    private func admitted(
        _ line: String,
        _ url: String = "https://www.example.com/dir/",
        isSameSite: Bool = true
    ) -> Cookie? {
        guard let scope = (try? HTTPURL(url)).map({ CookieScope($0) }), let line = SetCookieLine(line) else {
            return nil
        }
        return line.cookie(from: scope, now: 0).admitted(from: scope, isSameSite: isSameSite)
    }

    @Test("a domain may be the host or a parent of it")
    func domains() {
        #expect(admitted("a=b; Domain=www.example.com") != nil)
        #expect(admitted("a=b; Domain=.example.COM")?.domain == "example.com")
        for domain in ["other.com", "a.www.example.com", "ample.com", "example.com.", "w.example.com", "exämple.com"] {
            #expect(admitted("a=b; Domain=\(domain)") == nil)
        }
    }

    @Test("a host with a name of one label may set cookies for itself, and no host for all names below it")
    func singleLabels() {
        #expect(admitted("a=b; Domain=com") == nil)
        #expect(admitted("a=b; Domain=com.", "https://www.example.com./") == nil)
        #expect(admitted("a=b; Domain=localhost", "http://localhost/")?.isHostOnly == true)
        #expect(admitted("a=b; Domain=localhost", "http://x.localhost/") == nil)
    }

    @Test("an address sets cookies for itself and for nothing else")
    func addresses() {
        #expect(admitted("a=b", "http://1.2.3.4/")?.domain == "1.2.3.4")
        #expect(admitted("a=b; Domain=1.2.3.4", "http://1.2.3.4/")?.isHostOnly == true)
        #expect(admitted("a=b; Domain=3.4", "http://1.2.3.4/") == nil)
        #expect(admitted("a=b; Domain=.2.3.4", "http://1.2.3.4/") == nil)
        #expect(admitted("a=b", "http://[::1]/")?.domain == "::1")
        #expect(admitted("a=b; Domain=[::1]", "http://[::1]/") == nil)
        #expect(admitted("a=b; Domain=1.2.3.4", "http://example.com/") == nil)
    }

    @Test("a trailing dot makes another host, which has cookies of its own")
    func trailingDot() {
        #expect(admitted("a=b", "https://example.com./")?.domain == "example.com.")
        #expect(admitted("a=b; Domain=example.com", "https://example.com./") == nil)
        #expect(admitted("a=b; Domain=example.com.", "https://www.example.com./")?.domain == "example.com.")
    }

    @Test("secure cookies come by https alone")
    func secure() {
        #expect(admitted("a=b; Secure") != nil)
        #expect(admitted("a=b; Secure", "http://www.example.com/") == nil)
        #expect(admitted("a=b", "http://www.example.com/") != nil)
    }

    @Test("__Secure- says that the cookie is secure, in any case of letters", arguments: ["__Secure-", "__sEcUrE-"])
    func securePrefix(prefix: String) {
        #expect(admitted("\(prefix)a=b; Secure") != nil)
        #expect(admitted("\(prefix)a=b") == nil)
        #expect(admitted("\(prefix)a=b; Secure", "http://www.example.com/") == nil)
    }

    @Test("__Host- says besides that it is the host's alone and for all paths", arguments: ["__Host-", "__HOST-"])
    func hostPrefix(prefix: String) {
        #expect(admitted("\(prefix)a=b; Secure; Path=/") != nil)
        for line in ["", "; Secure", "; Path=/", "; Secure; Path=/x", "; Secure; Path=/; Domain=www.example.com"] {
            #expect(admitted("\(prefix)a=b\(line)") == nil)
            #expect(admitted("\(prefix)a=b\(line)", "https://www.example.com/login") == nil)
        }
    }

    @Test(
        "a cookie that is all value may not look like one with a prefix",
        arguments: ["__Host-a=b", "__secure-a=b", "__HOST-"]
    )
    func namelessPrefix(value: String) {
        #expect(admitted("=\(value); Secure; Path=/") == nil)
        #expect(admitted("=x\(value)") != nil)
    }

    @Test("a cookie for its own site does not come with loads of another site's document")
    func sameSite() {
        for policy in ["Strict", "Lax"] {
            #expect(admitted("a=b; SameSite=\(policy)") != nil)
            #expect(admitted("a=b; SameSite=\(policy)", isSameSite: false) == nil)
        }
        #expect(admitted("a=b; SameSite=None", isSameSite: false) != nil)
        #expect(admitted("a=b", isSameSite: false) != nil)
    }
}
