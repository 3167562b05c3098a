import Testing

@testable import UncurlWebSocket

@Suite struct DeflateAgreementTests {
    private func answer(_ text: String, to offer: DeflateOffer = DeflateOffer()) -> DeflateAgreement? {
        DeflateAgreement.elements(text)?.first.flatMap { DeflateAgreement(response: $0, to: offer) }
    }

    private func accepted(_ text: String) -> String? {
        DeflateAgreement.elements(text)?.first.flatMap { DeflateAgreement(accepting: $0) }?.response
    }

    @Test("a server's parameters are taken over")
    func parameters() throws {
        #expect(answer("permessage-deflate") == DeflateAgreement())
        let all = try #require(
            answer(
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
                    + "server_max_window_bits=9; client_max_window_bits=\"8\""
            )
        )
        #expect(all.serverForgets && all.clientForgets && all.serverWindowBits == 9 && all.clientWindowBits == 8)
    }

    @Test(
        "an answer with a parameter unknown, repeated, without its value or out of range fails (RFC 7692 §7.1)",
        arguments: [
            "x", "server_max_window_bits", "client_max_window_bits", "server_max_window_bits=16",
            "server_max_window_bits=7", "server_max_window_bits=08", "server_max_window_bits=+9",
            "server_no_context_takeover=1", "client_no_context_takeover; client_no_context_takeover",
            "server_max_window_bits=9; server_max_window_bits=9", "client_max_window_bits=99999999999999999999",
        ]
    )
    func refused(parameters: String) {
        #expect(answer("permessage-deflate; \(parameters)") == nil)
    }

    @Test("what the client asked for must be granted")
    func wishes() {
        var offer = DeflateOffer()
        offer.serverForgets = true
        offer.serverWindowBits = 10
        #expect(
            offer.text
                == "permessage-deflate; client_max_window_bits; server_no_context_takeover; server_max_window_bits=10"
        )
        #expect(answer("permessage-deflate", to: offer) == nil)
        #expect(answer("permessage-deflate; server_no_context_takeover", to: offer) == nil)
        #expect(answer("permessage-deflate; server_no_context_takeover; server_max_window_bits=11", to: offer) == nil)
        #expect(answer("permessage-deflate; server_no_context_takeover; server_max_window_bits=10", to: offer) != nil)
    }

    @Test("an end that offers to forget its window does so, whether the server repeats it or not")
    func promise() {
        var offer = DeflateOffer()
        offer.clientForgets = true
        #expect(answer("permessage-deflate", to: offer)?.clientForgets == true)
    }

    @Test("a server grants what it can, and declines what it cannot keep to")
    func server() {
        #expect(accepted("permessage-deflate") == "permessage-deflate")
        #expect(accepted("permessage-deflate; client_max_window_bits") == "permessage-deflate")
        #expect(
            accepted("permessage-deflate; client_max_window_bits=10; server_max_window_bits=9")
                == "permessage-deflate; server_max_window_bits=9; client_max_window_bits=10"
        )
        #expect(
            accepted("permessage-deflate; server_no_context_takeover; client_no_context_takeover")
                == "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
        )
        #expect(accepted("permessage-deflate; server_max_window_bits=8") == nil)
        #expect(accepted("permessage-deflate; server_max_window_bits") == nil)
        #expect(accepted("permessage-deflate; unknown") == nil)
        #expect(accepted("permessage-deflate; client_max_window_bits; client_max_window_bits=9") == nil)
    }
}
