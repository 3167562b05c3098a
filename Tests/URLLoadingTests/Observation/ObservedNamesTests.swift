import Foundation
import TestSupport
import Testing

@testable import URLLoading

@Suite("ObservedNames")
struct ObservedNamesTests {
    @Test(
        "a URL without a port has its scheme's",
        arguments: [
            ("http://h/", 80), ("ws://h/", 80), ("https://h/", 443), ("WSS://h/", 443), ("wss://h:80/", 80),
        ]
    )
    func port(text: String, port: Int) throws {
        #expect(try url(text).observedPort == port)
    }
}
