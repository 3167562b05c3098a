import Glibc
import Testing
import UncurlEngine
import UncurlSemantics

@Suite("Proxies of the environment")
struct ProxyEnvironmentTests {
    private func proxies(_ variables: [String: String]) throws -> (http: String?, https: String?) {
        let configuration = try ProxyEnvironment(variables).proxies()
        return (configuration.http?.description, configuration.https?.description)
    }

    @Test("lower case comes before upper case, the scheme's own variable before that for all")
    func order() throws {
        var found = try proxies([
            "http_proxy": "a:1", "https_proxy": "b:1", "HTTPS_PROXY": "c:1", "all_proxy": "d:1", "ALL_PROXY": "e:1",
        ])
        #expect(found == ("http://a:1", "http://b:1"))
        found = try proxies(["HTTPS_PROXY": "c:1", "all_proxy": "d:1", "ALL_PROXY": "e:1"])
        #expect(found == ("http://d:1", "http://c:1"))
        found = try proxies(["ALL_PROXY": "socks5h://e:1"])
        #expect(found == ("socks5h://e:1", "socks5h://e:1"))
        found = try proxies([:])
        #expect(found == (nil, nil))
    }

    @Test("HTTP_PROXY in upper case is what a CGI request's Proxy field becomes, and never counts")
    func httpoxy() throws {
        #expect(try proxies(["HTTP_PROXY": "evil:1"]) == (nil, nil))
        #expect(try proxies(["HTTP_PROXY": "evil:1", "ALL_PROXY": "a:1"]) == ("http://a:1", "http://a:1"))
        // Not even looked at: this is no URL.
        #expect(try proxies(["HTTP_PROXY": "ftp://"]) == (nil, nil))
    }

    @Test("an empty variable is as good as none")
    func empty() throws {
        #expect(try proxies(["http_proxy": "", "all_proxy": "", "ALL_PROXY": "a:1"]) == ("http://a:1", "http://a:1"))
        let configuration = try ProxyEnvironment(["no_proxy": "", "NO_PROXY": "a"]).proxies()
        #expect(configuration.exceptions.covers("a"))
    }

    @Test("no_proxy in lower case comes before NO_PROXY, and the two are not joined")
    func exceptions() throws {
        let configuration = try ProxyEnvironment(["http_proxy": "p:1", "no_proxy": "a", "NO_PROXY": "b"]).proxies()
        #expect(configuration.proxy(for: try Origin(host: "x.a")) == nil)
        #expect(configuration.proxy(for: try Origin(host: "b"))?.description == "http://p:1")
    }

    @Test("a variable that names no proxy is an error that names the variable, not its value")
    func bad() {
        let expected = ["https_proxy": "ftp://u:secret@p", "ALL_PROXY": "a b"]
        for (variable, value) in expected {
            do throws(ProxyEnvironment.Problem) {
                _ = try ProxyEnvironment([variable: value]).proxies()
                Issue.record("\(variable) was taken")
            } catch {
                #expect(error.variable == variable)
                #expect("\(error)".hasPrefix(variable) && !"\(error)".contains("secret"))
            }
        }
    }

    @Test("the process's own environment is read by the same rules")
    func process() {
        var variables: [String: String] = [:]
        for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
            for name in [name, name.uppercased()] {
                if let value = getenv(name) { variables[name] = String(cString: value) }
            }
        }
        let process = Result { () throws(ProxyEnvironment.Problem) in try ProxyEnvironment().proxies() }
        let given = Result { () throws(ProxyEnvironment.Problem) in
            try ProxyEnvironment(variables).proxies()
        }
        #expect(process == given)
    }
}
