import TestSupport
import Testing
import UncurlHTTP1

/// The parsers against the reference, over seeded random messages and mutations of them.
@Suite(.ownThread)
struct DifferentialTests {
    @Test("responses get the verdict, the messages and the surplus of the reference", arguments: 0..<6)
    func responses(seed: Int) {
        var generator = MessageGenerator(seed: UInt64(seed) &* 7919)
        var verdicts: [ReferenceParser.Verdict] = []
        for round in 0..<250 {
            let input = generator.input(isRequest: false)
            var reference = ReferenceParser(input)
            let verdict = reference.response()
            verdicts.append(verdict)
            let cuts = Cuts((0..<generator.random.below(4)).map { _ in generator.random.below(30) + 1 })
            let outcome = feedResponses(input, answering: [plain], cuts: cuts)
            let isSame = agrees(outcome, reference, verdict, leavesSurplus: true)
            #expect(
                isSame,
                "seed \(seed) round \(round): \(String(decoding: input, as: UTF8.self).debugDescription) \(verdict) \(outcome)"
            )
        }
        expectVariety(verdicts)
    }

    @Test("requests get the verdict and the messages of the reference", arguments: 0..<6)
    func requests(seed: Int) {
        var generator = MessageGenerator(seed: UInt64(seed) &* 104_729 &+ 1)
        var verdicts: [ReferenceParser.Verdict] = []
        for round in 0..<250 {
            let input = generator.input(isRequest: true)
            var reference = ReferenceParser(input)
            let verdict = reference.requests()
            verdicts.append(verdict)
            let cuts = Cuts((0..<generator.random.below(4)).map { _ in generator.random.below(30) + 1 })
            let outcome = feedRequests(input, cuts: cuts)
            let isSame = agrees(outcome, reference, verdict, leavesSurplus: false)
            #expect(
                isSame,
                "seed \(seed) round \(round): \(String(decoding: input, as: UTF8.self).debugDescription) \(verdict) \(outcome)"
            )
        }
        expectVariety(verdicts)
    }

    /// A generator that only made rubbish, or only good messages, would show nothing.
    private func expectVariety(_ verdicts: [ReferenceParser.Verdict]) {
        for verdict in [ReferenceParser.Verdict.complete, .incomplete, .invalid] {
            #expect(verdicts.count { $0 == verdict } > 20, "\(verdict)")
        }
    }

    private func agrees(
        _ outcome: Outcome,
        _ reference: ReferenceParser,
        _ verdict: ReferenceParser.Verdict,
        leavesSurplus: Bool
    ) -> Bool {
        switch verdict {
        case .complete:
            guard outcome.error == nil, outcome.isComplete, outcome.finishError == nil else { return false }
            guard !leavesSurplus || outcome.surplus == reference.surplus else { return false }
        case .incomplete: guard outcome.error == nil, !outcome.isComplete || !leavesSurplus else { return false }
        case .invalid: guard outcome.error != nil else { return false }
        }
        let heads = outcome.events.compactMap { event in
            switch event {
            case .head(let transcript), .informational(let transcript): transcript
            case .body, .trailers, .end, .tunnel: nil
            }
        }
        guard heads.count == reference.messages.count else { return false }
        for (head, message) in zip(heads, reference.messages) {
            var fields: [UInt8] = []
            for field in message.fields {
                let known = KnownField(name: String(decoding: field[0], as: UTF8.self))
                fields += field[0] + [0x3A] + field[1] + [0x0A, known.rawValue]
            }
            guard head.suffix(fields.count) == fields[...] else { return false }
        }
        // An invalid body has been delivered up to the fault; the reference keeps none of it.
        return verdict == .invalid || outcome.body == reference.messages.flatMap(\.body)
    }
}
