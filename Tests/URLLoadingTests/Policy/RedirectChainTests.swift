import Testing

@testable import URLLoading

@Suite("Redirect chains")
struct RedirectChainTests {
    @Test("twenty redirects are followed, the next is not (row 70)")
    func limit() throws {
        var chain = RedirectChain()
        chain.note(method: "GET", url: try url("http://h/0"), cookies: nil)
        for number in 1...20 {
            #expect(chain.follow(method: "GET", url: try url("http://h/\(number)"), cookies: nil) == true)
        }
        #expect(chain.follow(method: "GET", url: try url("http://h/21"), cookies: nil) == false)
    }

    @Test("the same request once more is a circle; another fragment makes no other request")
    func circle() throws {
        var chain = RedirectChain()
        chain.note(method: "GET", url: try url("http://h/a"), cookies: nil)
        #expect(chain.follow(method: "GET", url: try url("http://h/b"), cookies: nil) == true)
        #expect(chain.follow(method: "GET", url: try url("http://h/a#x"), cookies: nil) == false)
    }

    @Test("another method or other cookies make another request")
    func noCircle() throws {
        var chain = RedirectChain()
        let place = try url("http://h/a")
        chain.note(method: "POST", url: place, cookies: nil)
        #expect(chain.follow(method: "GET", url: place, cookies: nil) == true)
        #expect(chain.follow(method: "GET", url: place, cookies: "a=1") == true)
        #expect(chain.follow(method: "GET", url: place, cookies: "a=1") == false)
    }
}
