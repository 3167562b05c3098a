import Foundation
import TestSupport
import Testing

/// What `./dev release` writes beside the commands: the list of what is in them.
@Suite("Release", .ownThread)
struct ReleaseTests {
    private struct Document: Decodable {
        struct Element: Decodable {
            var SPDXID: String
            var filesAnalyzed: Bool?
        }
        struct Relationship: Decodable {
            var spdxElementId: String
            var relationshipType: String
            var relatedSpdxElement: String
        }
        var packages: [Element]
        var files: [Element]
        var relationships: [Relationship]
    }

    /// The list of a release of one file.
    private func list(in folder: URL) throws -> URL {
        let release = folder.appendingPathComponent("dist")
        try FileManager.default.createDirectory(at: release, withIntermediateDirectories: true)
        try Data("a command".utf8).write(to: release.appendingPathComponent("volley-0.1.0-linux-x86_64"))
        let place = folder.appendingPathComponent("list.spdx.json")
        let ended = try EndedProgram(
            shell: "cd '\(SourceTree.root.path)' && python3 .release/sbom.py '\(release.path)' 0.1.0 "
                + "0123456789 1700000000 >'\(place.path)'"
        )
        try #require(ended.status == 0, "\(ended.err)")
        return place
    }

    @Test("the documentation's files are the same bytes, in whichever order their keys came")
    func canonical() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pages-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let texts = [#"{"b": ["é", {"d": 1, "c": null}], "a": true}"#, #"{"a":true,"b":["é",{"c":null,"d":1}]}"#]
        let places = try texts.enumerated().map { index, text in
            let place = folder.appendingPathComponent("\(index)/page.json")
            try FileManager.default.createDirectory(
                at: place.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: place)
            return place
        }
        let tool = SourceTree.root.appending(path: ".release/canonical.py").path
        let ended = try EndedProgram("/usr/bin/env", ["python3", tool, folder.path])
        try #require(ended.status == 0, "\(ended.err)")
        #expect(try Data(contentsOf: places[0]) == Data(contentsOf: places[1]))
        #expect(try String(contentsOf: places[0], encoding: .utf8) == texts[1])
    }

    @Test("the list names what it speaks of, and says of each file what it was made from; SPDX's own tool accepts it")
    func valid() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sbom-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let place = try list(in: folder)
        let document = try JSONDecoder().decode(Document.self, from: Data(contentsOf: place))
        let known = Set((document.packages + document.files).map(\.SPDXID)).union(["SPDXRef-DOCUMENT"])
        for one in document.relationships {
            #expect(known.contains(one.spdxElementId) && known.contains(one.relatedSpdxElement), "\(one)")
            // A package whose files were not analysed contains none (SPDX 2.3, 7.8).
            let package = document.packages.first { $0.SPDXID == one.spdxElementId }
            #expect(one.relationshipType != "CONTAINS" || package?.filesAnalyzed != false, "\(one)")
        }
        for file in document.files {
            #expect(document.relationships.contains { $0.spdxElementId == file.SPDXID }, "\(file)")
        }
        // ./dev test makes the folder where pip can install; without it this much is unchecked.
        let tool = SourceTree.root.appending(path: ".build/python/bin/pyspdxtools").path
        guard FileManager.default.isExecutableFile(atPath: tool) else { return }
        let checked = try EndedProgram(tool, ["--infile", place.path, "--version", "SPDX-2.3"])
        #expect(checked.status == 0, "\(checked.err)")
    }
}
