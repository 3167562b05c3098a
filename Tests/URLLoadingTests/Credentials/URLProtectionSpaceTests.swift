import Testing

@testable import URLLoading

@Suite("URLProtectionSpace")
struct URLProtectionSpaceTests {
    private func space(
        _ host: String = "h.example",
        _ port: Int = 80,
        _ name: String? = "http",
        _ realm: String? = "r",
        _ method: String? = NSURLAuthenticationMethodHTTPBasic
    ) -> URLProtectionSpace {
        URLProtectionSpace(host: host, port: port, protocol: name, realm: realm, authenticationMethod: method)
    }

    @Test("it holds what it was given; without a method it has the default one")
    func holding() {
        let server = space("H.example", 8080, "https", nil, nil)
        #expect(server.host == "H.example" && server.port == 8080 && server.protocol == "https" && server.realm == nil)
        #expect(server.authenticationMethod == NSURLAuthenticationMethodDefault)
        #expect(!server.isProxy() && server.proxyType == nil && server.serverTrust == nil)
        let proxy = URLProtectionSpace(
            proxyHost: "p",
            port: 1,
            type: NSURLProtectionSpaceHTTPProxy,
            realm: "r",
            authenticationMethod: nil
        )
        #expect(proxy.isProxy() && proxy.proxyType == NSURLProtectionSpaceHTTPProxy && proxy.protocol == nil)
        #expect(proxy.copy() as AnyObject === proxy)
    }

    @Test("equal ones are one key; the host's case and the protocol's spelling do not matter")
    func equality() {
        #expect(space() == space("H.Example") && space().hash == space("H.Example").hash)
        #expect(space("h", 443, "https") == space("h", 443, NSURLProtectionSpaceHTTPS))
        #expect(space("h", 443, "https").hash == space("h", 443, NSURLProtectionSpaceHTTPS).hash)
        let others = [
            space("other"), space("h.example", 81), space("h.example", 80, "https"),
            space("h.example", 80, "http", "R"),
            space("h.example", 80, "http", nil), space("h.example", 80, "http", "r", nil),
            URLProtectionSpace(
                proxyHost: "h.example",
                port: 80,
                type: "http",
                realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic
            ),
        ]
        for other in others { #expect(space() != other, "\(other)") }
        #expect(!space().isEqual("x"))
    }

    @Test("a password is sent securely over TLS alone")
    func security() {
        #expect(space("h", 443, "https").receivesCredentialSecurely)
        #expect(space("h", 443, NSURLProtectionSpaceHTTPS).receivesCredentialSecurely)
        #expect(!space().receivesCredentialSecurely && !space("h", 1, nil).receivesCredentialSecurely)
    }

    @Test("an archive keeps all but the trust; one without a host is refused")
    func archive() throws {
        var asking = ProtectionSpaceValues(
            host: "h",
            port: 443,
            side: .server("https"),
            realm: nil,
            method: NSURLAuthenticationMethodClientCertificate
        )
        asking.distinguishedNames = [Data([1, 2]), Data()]
        let proxy = URLProtectionSpace(
            proxyHost: "p",
            port: 3128,
            type: NSURLProtectionSpaceHTTPSProxy,
            realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPDigest
        )
        for space in [space(), space("h", 0, nil, nil, nil), proxy, URLProtectionSpace(asking)] {
            let data = try NSKeyedArchiver.archivedData(withRootObject: space, requiringSecureCoding: true)
            let copy = try NSKeyedUnarchiver.unarchivedObject(ofClass: URLProtectionSpace.self, from: data)
            #expect(copy == space && copy?.space.distinguishedNames == space.space.distinguishedNames)
        }
        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        coder.encode(NSNumber(value: 80), forKey: "port")
        let decoder = try NSKeyedUnarchiver(forReadingFrom: coder.encodedData)
        decoder.requiresSecureCoding = true
        #expect(URLProtectionSpace(coder: decoder) == nil)
    }

    @Test("its description names all its properties")
    func description() {
        #expect(space().description.contains("Host:h.example") && space().description.contains("Realm:r"))
    }

    @Test("realms are compared by their octets: two spellings of one text are two realms")
    func realms() {
        let (whole, same, parts) = (space(realm: "\u{E9}"), space(realm: "\u{E9}"), space(realm: "e\u{301}"))
        #expect(whole == same && whole.hash == same.hash && whole != parts)
    }

    private func space(realm: String) -> URLProtectionSpace { space("h.example", 80, "http", realm) }

    @Test("the values of protection spaces compare realms by their octets, and none with no other")
    func realmValues() {
        func space(_ realm: String?) -> ProtectionSpaceValues {
            ProtectionSpaceValues(host: "h", port: 1, side: .server("http"), realm: realm, method: nil)
        }
        #expect(space("\u{E9}") == space("\u{E9}") && space("\u{E9}") != space("e\u{301}"))
        #expect(space(nil) == space(nil) && space(nil) != space("") && space("r") != space("R"))
        #expect(Set([space("\u{E9}"), space("e\u{301}"), space("\u{E9}"), space(nil)]).count == 3)
    }
}
