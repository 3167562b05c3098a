import Foundation
import TestSupport
import Testing

/// Everything that reads what others have written, on stored inputs and on thousands that are made of them.
@Suite("Readers", .ownThread, .timeLimit(.minutes(10)))
struct ReaderTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz")

    /// The stored inputs of a reader: what it is meant for, and what once was a finding.
    private static func inputs(of reader: Reader) -> [[UInt8]] {
        ["Corpus", "FailCases"].flatMap { name in
            let folder = folder.appending(path: "\(name)/\(reader.name)")
            let files =
                (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
            return files.sorted { $0.path < $1.path }.compactMap { (try? Data(contentsOf: $0)).map { Array($0) } }
        }
    }

    @Test("every reader has stored inputs, and no stored input is without its reader")
    func corpora() throws {
        let names = Set(Reader.all.map { $0.name })
        #expect(names.count == Reader.all.count)
        for reader in Reader.all { #expect(!Self.inputs(of: reader).isEmpty, "\(reader.name)") }
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.appending(path: "Corpus").path)
        #expect(Set(folders.filter { !$0.hasPrefix("Fuzz") }) == names)
    }

    // Two tests, since a reader has the suite's time limit for each, also on a busy machine.

    @Test("stored inputs, and their beginnings, are read without a trap", arguments: Reader.all.map { $0.name })
    func beginnings(name: String) throws {
        let reader = try #require(Reader.all.first { $0.name == name })
        for input in Self.inputs(of: reader) {
            reader.read(input)
            // Short ones at every octet, long ones at a hundred.
            for length in stride(from: 0, to: input.count, by: max(1, input.count / 100)) {
                reader.read(Array(input.prefix(length)))
            }
        }
    }

    @Test("stored inputs, changed at random, are read without a trap", arguments: Reader.all.map { $0.name })
    func mutations(name: String) throws {
        let reader = try #require(Reader.all.first { $0.name == name })
        var mutator = Mutator(seed: name.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) })
        for input in Self.inputs(of: reader) {
            for _ in 0..<100 { reader.read(mutator.change(input)) }
        }
    }
}
