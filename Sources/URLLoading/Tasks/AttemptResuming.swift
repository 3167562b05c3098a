internal import Foundation
internal import HTTPEngine
internal import HTTPSemantics
internal import Reactor

/// What an attempt has on disk, and how that is gone on from.
extension Attempt {
    /// Another attempt, after one that the network has failed: with the content that there is, if the server lets it.
    ///
    /// - Parameter file: what has come of this one's content.
    func anew(_ request: URLRequest, continuing file: DownloadFile?) -> Attempt {
        var resumption = resumption
        if let file, let url = request.url {
            let data = resumeData(file, at: file.url.path, fields: [:], url: url)
            file.finish(keeping: data != nil)
            resumption = data?.askable
        }
        return Attempt(anewAfter: self, request, resuming: resumption)
    }

    /// A new file for the answer. In a background session it lies in the session's folder, and the record knows it
    /// before the process can end.
    func makeFile(for task: URLSessionTask, _ engine: SessionEngine) throws(URLError) -> DownloadFile {
        let path = engine.background?.freshPart(of: task)
        let file = try DownloadFile(for: request.url, at: path, makingRoom: { engine.engine.makeRoom() })
        file.total = response?.expectedContentLength ?? -1
        guard let background = engine.background, let path else { return file }
        file.beginLedger(at: engine.loop.now)
        let part = BackgroundRecord.Part(
            path: path,
            validator: validator,
            expected: file.total,
            boot: BackgroundFolder.boot
        )
        background.note(task, response as? HTTPURLResponse, part: part)
        return file
    }

    /// What was read of the file on disk: the machine asks for the rest of that. What is of no use goes.
    mutating func resume(from read: ResumeData?) {
        if read == nil { removePart() }
        resumption = read
        machine = machine.anew(resuming: read?.offer)
    }

    /// What an earlier attempt has left is of no use.
    func removePart() {
        if let path = resumption?.path { WritableFile.remove(path) }
    }

    /// By what to know the content that is coming in; nil where nothing does, or where it cannot be gone on with.
    var validator: String? {
        guard let response = response as? HTTPURLResponse, request.httpMethod == "GET" else { return nil }
        // What was decoded is of another length than what the server counts.
        let coding = response.value(forHTTPHeaderField: "Content-Encoding")?.lowercased()
        guard coding == nil || coding == "identity" else { return nil }
        guard response.statusCode == 200 || response.statusCode == 206 else { return nil }
        guard response.value(forHTTPHeaderField: "Accept-Ranges")?.lowercased() != "none" else { return nil }
        return ResumeRule.validator(
            entityTag: response.value(forHTTPHeaderField: "ETag"),
            lastModified: response.value(forHTTPHeaderField: "Last-Modified"),
            date: response.value(forHTTPHeaderField: "Date").flatMap { HTTPDateText.seconds($0) },
            now: UnixTime.now
        )
    }

    /// Takes the file out of this task's hands. Nil where nothing of the content is on disk, or nothing tells it apart
    /// from what the server may have by then.
    func resumeData(_ sink: Sink, _ background: BackgroundSession?) -> ResumeData? {
        guard case .file(let file) = sink, file.written > 0, let url = request.url, validator != nil else { return nil }
        file.keep()
        // Behind the session's back: its records no longer count for it.
        let path = background?.folder?.keep(file.url.path) ?? file.url.path
        return resumeData(file, at: path, fields: request.allHTTPHeaderFields ?? [:], url: url)
    }

    /// A failure with what can be gone on from in it. One that is cancelled has it by then, if it was asked for.
    func withResumeData(_ failure: any Error, _ sink: Sink, _ background: BackgroundSession?) -> any Error {
        guard let error = failure as? URLError, error.code != .cancelled,
            let data = resumeData(sink, background)?.data
        else { return failure }
        return error.with(data)
    }

    /// What a later download goes on from, with what has come of this one.
    ///
    /// - Parameter path: where the file is by then.
    private func resumeData(_ file: DownloadFile, at path: String, fields: [String: String], url: URL) -> ResumeData? {
        guard file.written > 0, let validator else { return nil }
        return ResumeData(
            url: url,
            fields: fields,
            validator: validator,
            path: path,
            received: file.written,
            expected: file.total,
            sum: file.sum.map { .known($0) } ?? .none
        )
    }
}

extension ResumeData {
    var offer: ResumeOffer { ResumeOffer(validator: validator, received: received, expected: expected) }
}
