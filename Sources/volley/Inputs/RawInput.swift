import UncurlLoad

/// Reads `--raw [NAME=]FILE`. The octets of each file are sent unchanged as one request, for tests of parsers.
enum RawInput {
    static func read(_ arguments: [String]) throws(UsageError) -> RequestInput {
        var input = RequestInput()
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            // A text before `=` is a name, unless it has a slash and is thus part of a path.
            let isNamed = parts.count == 2 && !parts[0].isEmpty && !parts[0].contains("/")
            let path = isNamed ? parts[1] : argument
            let bytes = try Files.read(path, for: "--raw")
            guard !bytes.isEmpty else { throw UsageError("--raw \(quoted(path)) is empty: a request has octets") }
            var draft = RequestDraft(url: "/", place: InputPlace(file: path, line: 1))
            draft.verbatim = bytes
            draft.name = isNamed ? parts[0] : path.split(separator: "/").last.map(String.init)
            guard !input.drafts.contains(where: { $0.name == draft.name }) else {
                throw UsageError("--raw has two files of the name \(quoted(draft.name ?? "")): write NAME=FILE")
            }
            try input.add(draft)
        }
        return input
    }
}
