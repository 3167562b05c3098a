import TestSupport
import UncurlTestServer

@testable import Uncurl

/// A policy, a server, and what must come out.
struct TrustRow {
    let name: String
    let chain: [TestCertificate]
    let mode: SecurityPolicy.PinningMode
    var pins: [TestCertificate] = []
    var invalid = false
    var domain = true
    var host = "a.test"
    /// Nil: trusted.
    let ground: String?

    static func all(_ world: TrustWorld) -> [TrustRow] {
        let (root, middle, leaf, own) = (world.root, world.intermediate, world.leaf, world.selfSigned)
        let good = [leaf, middle]
        return [
            TrustRow(name: "none: valid", chain: good, mode: .none, ground: nil),
            TrustRow(name: "none: wrong host", chain: good, mode: .none, host: "b.test", ground: "wrongHost"),
            TrustRow(
                name: "none: wrong host, no domain",
                chain: good,
                mode: .none,
                domain: false,
                host: "b.test",
                ground: nil
            ),
            TrustRow(name: "none: self-signed", chain: [own], mode: .none, ground: "selfSigned"),
            TrustRow(name: "none: other root", chain: [world.otherLeaf], mode: .none, ground: "incompleteChain"),
            TrustRow(name: "none: expired", chain: [world.expired, middle], mode: .none, ground: "expired"),
            TrustRow(name: "none: incomplete", chain: [leaf], mode: .none, ground: "incompleteChain"),
            TrustRow(
                name: "none: invalid allowed, no domain",
                chain: [own],
                mode: .none,
                invalid: true,
                domain: false,
                ground: nil
            ),
            TrustRow(name: "none: a client's", chain: [world.clientOnly, middle], mode: .none, ground: "invalidChain"),
            TrustRow(
                name: "none: a client's, no domain",
                chain: [world.clientOnly, middle],
                mode: .none,
                domain: false,
                ground: "invalidChain"
            ),
            TrustRow(name: "none: nothing sent", chain: [], mode: .none, ground: "noCertificate"),
            TrustRow(name: "none", chain: good, mode: .none, invalid: true, ground: "contradiction"),
            TrustRow(
                name: "pins in mode none",
                chain: good,
                mode: .none,
                pins: [leaf],
                invalid: true,
                ground: "contradiction"
            ),
            TrustRow(
                name: "key without pins",
                chain: good,
                mode: .publicKey,
                invalid: true,
                ground: "contradiction"
            ),
            TrustRow(
                name: "certificate without pins",
                chain: good,
                mode: .certificate,
                invalid: true,
                ground: "contradiction"
            ),
            // zero pins
            TrustRow(name: "key: no pins", chain: good, mode: .publicKey, ground: "noPins"),
            TrustRow(name: "certificate: no pins", chain: good, mode: .certificate, ground: "noPins"),
            TrustRow(
                name: "key: no pins, no domain",
                chain: good,
                mode: .publicKey,
                invalid: true,
                domain: false,
                ground: "noPins"
            ),
            TrustRow(name: "key: leaf", chain: good, mode: .publicKey, pins: [leaf], ground: nil),
            TrustRow(name: "key: intermediate", chain: good, mode: .publicKey, pins: [middle], ground: nil),
            TrustRow(name: "key: root", chain: good, mode: .publicKey, pins: [root], ground: nil),
            TrustRow(name: "key: all", chain: good, mode: .publicKey, pins: [leaf, middle, root], ground: nil),
            TrustRow(name: "key: extra", chain: good, mode: .publicKey, pins: [world.otherRoot, leaf], ground: nil),
            TrustRow(
                name: "key: wrong",
                chain: good,
                mode: .publicKey,
                pins: [world.otherLeaf],
                ground: "noPinMatches"
            ),
            TrustRow(
                name: "key: renewed",
                chain: [world.renewed, middle],
                mode: .publicKey,
                pins: [leaf],
                ground: nil
            ),
            TrustRow(
                name: "key: wrong host",
                chain: good,
                mode: .publicKey,
                pins: [leaf],
                host: "b.test",
                ground: "wrongHost"
            ),
            TrustRow(
                name: "key: no domain",
                chain: good,
                mode: .publicKey,
                pins: [leaf],
                domain: false,
                host: "b.test",
                ground: nil
            ),
            TrustRow(name: "key: self-signed", chain: [own], mode: .publicKey, pins: [own], ground: "selfSigned"),
            TrustRow(
                name: "key: self-signed, invalid allowed",
                chain: [own],
                mode: .publicKey,
                pins: [own],
                invalid: true,
                ground: nil
            ),
            TrustRow(
                name: "key: expired, invalid allowed",
                chain: [world.expired, middle],
                mode: .publicKey,
                pins: [middle],
                invalid: true,
                ground: nil
            ),
            TrustRow(
                name: "key: invalid allowed, wrong pin",
                chain: [own],
                mode: .publicKey,
                pins: [leaf],
                invalid: true,
                ground: "noPinMatches"
            ),
            TrustRow(
                name: "key: invalid allowed, wrong host",
                chain: [own],
                mode: .publicKey,
                pins: [own],
                invalid: true,
                host: "b.test",
                ground: "wrongHost"
            ),
            TrustRow(
                name: "key: invalid allowed, no domain",
                chain: [own],
                mode: .publicKey,
                pins: [own],
                invalid: true,
                domain: false,
                host: "b.test",
                ground: nil
            ),
            TrustRow(
                name: "key: a stranger brings the pinned one along",
                chain: [own, leaf, middle],
                mode: .publicKey,
                pins: [leaf],
                invalid: true,
                ground: "noPinMatches"
            ),
            TrustRow(
                name: "key: root not sent, invalid allowed",
                chain: good,
                mode: .publicKey,
                pins: [root],
                invalid: true,
                ground: nil
            ),
            TrustRow(
                name: "key: nothing sent",
                chain: [],
                mode: .publicKey,
                pins: [leaf],
                invalid: true,
                ground: "noCertificate"
            ),
            TrustRow(name: "certificate: leaf", chain: good, mode: .certificate, pins: [leaf], ground: nil),
            TrustRow(name: "certificate: intermediate", chain: good, mode: .certificate, pins: [middle], ground: nil),
            TrustRow(
                name: "certificate: root, not sent",
                chain: good,
                mode: .certificate,
                pins: [root],
                ground: nil
            ),
            TrustRow(
                name: "certificate: all",
                chain: good,
                mode: .certificate,
                pins: [leaf, middle, root],
                ground: nil
            ),
            TrustRow(
                name: "certificate: extra",
                chain: good,
                mode: .certificate,
                pins: [world.otherRoot, root],
                ground: nil
            ),
            TrustRow(
                name: "certificate: wrong",
                chain: good,
                mode: .certificate,
                pins: [world.otherRoot],
                ground: "unknownAuthority"
            ),
            TrustRow(
                name: "certificate: renewed",
                chain: [world.renewed, middle],
                mode: .certificate,
                pins: [leaf],
                ground: "unknownAuthority"
            ),
            TrustRow(
                name: "certificate: wrong host",
                chain: good,
                mode: .certificate,
                pins: [root],
                host: "b.test",
                ground: "wrongHost"
            ),
            TrustRow(
                name: "certificate: no domain",
                chain: good,
                mode: .certificate,
                pins: [root],
                domain: false,
                host: "b.test",
                ground: nil
            ),
            TrustRow(
                name: "certificate: self-signed",
                chain: [own],
                mode: .certificate,
                pins: [own],
                ground: "selfSigned"
            ),
            TrustRow(
                name: "self-signed, invalid allowed, right host",
                chain: [own],
                mode: .certificate,
                pins: [own],
                invalid: true,
                ground: nil
            ),
            TrustRow(
                name: "self-signed, invalid allowed, wrong host",
                chain: [own],
                mode: .certificate,
                pins: [own],
                invalid: true,
                host: "b.test",
                ground: "wrongHost"
            ),
            TrustRow(
                name: "other authority, invalid allowed",
                chain: [world.otherLeaf],
                mode: .certificate,
                pins: [world.otherRoot],
                invalid: true,
                ground: nil
            ),
            TrustRow(
                name: "expired stays expired",
                chain: [world.expired, middle],
                mode: .certificate,
                pins: [world.expired],
                invalid: true,
                ground: "expired"
            ),
            TrustRow(
                name: "pinned authority that the roots do not know",
                chain: [world.otherLeaf],
                mode: .certificate,
                pins: [world.otherRoot],
                ground: "incompleteChain"
            ),
        ]
    }
}
