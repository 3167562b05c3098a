import Foundation
import TestSupport
import Testing
import Uncurl

/// Content changed by chance, from a seed that a failure names. `UNCURL_MUTATIONS` sets the number of rounds.
public enum Storm {
    public static let rounds = ProcessInfo.processInfo.environment["UNCURL_MUTATIONS"].flatMap { Int($0) } ?? 200

    /// Octets overwritten, cut out, doubled, or cut off.
    public static func changed(_ data: Data, _ chance: inout some RandomNumberGenerator) -> Data {
        var octets = Array(data)
        for _ in 0..<Int.random(in: 1...4, using: &chance) where !octets.isEmpty {
            let place = Int.random(in: 0..<octets.count, using: &chance)
            let length = min(octets.count - place, Int.random(in: 1...8, using: &chance))
            switch Int.random(in: 0..<5, using: &chance) {
            case 0: octets[place] = .random(in: 0...255, using: &chance)
            case 1: octets[place] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
            case 2: octets.removeSubrange(place..<place + length)
            case 3: octets.insert(contentsOf: octets[place..<place + length], at: place)
            default: octets.removeLast(Int.random(in: 0...min(4, octets.count), using: &chance))
            }
        }
        return Data(octets)
    }

    /// Reads changed content once a round. An error must be a `SerializationFailure`, or of the other type.
    public static func run(
        _ seed: UInt64,
        _ sources: [Data],
        orThrowing other: (any Error.Type)? = nil,
        _ read: (Data) throws -> Void
    ) {
        var chance = SplitMix(seed: seed)
        for round in 0..<rounds {
            let data = changed(sources[round % sources.count], &chance)
            do {
                try read(data)
            } catch {
                #expect(
                    error is SerializationFailure || other == type(of: error),
                    "seed \(seed), round \(round): \(error)"
                )
            }
        }
    }
}
