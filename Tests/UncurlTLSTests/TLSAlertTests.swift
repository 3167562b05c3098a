import TestSupport
import Testing
import UncurlTLS

@Suite("TLSAlert", .ownThread)
struct TLSAlertTests {
    @Test("an alert has the name that IANA gives its code; one without says its number")
    func names() {
        // https://www.iana.org/assignments/tls-parameters, "TLS Alerts".
        let registered: [UInt8] =
            [0, 10, 20, 21, 22, 30] + Array(40...52) + [60, 70, 71, 80, 86, 90, 100] + Array(109...117) + [120, 121]
        var names: Set<String> = []
        for code in UInt8.min...UInt8.max {
            let name = TLSAlert(code: code).name
            names.insert(name)
            let isWord = name.allSatisfy { $0.isLowercase || $0 == "_" }
            #expect(isWord == registered.contains(code), "\(code): \(name)")
        }
        #expect(names.count == 256)
        #expect("\(TLSError.alert(TLSAlert(code: 200)))".hasSuffix("the TLS alert number 200, which has no name"))
    }
}
