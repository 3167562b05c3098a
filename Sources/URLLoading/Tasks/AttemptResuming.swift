internal import Foundation
internal import HTTPEngine
internal import HTTPSemantics
internal import Reactor

/// How an attempt keeps content on disk, and goes on from it.
extension Attempt {
    /// Another attempt, after one that the network has failed: with the content that there is, if the server lets it.
    ///
    /// - Parameter file: the content that has come in this attempt.
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

    /// Resumes from what was read of the file on disk: the machine asks for the rest. A file of no use is removed.
    mutating func resume(from read: ResumeData?) {
        if read == nil { removePart() }
        resumption = read
        machine = machine.anew(resuming: read?.offer)
    }

    /// Removes the file that an earlier attempt has left, which is of no use.
    func removePart() {
        if let path = resumption?.path { WritableFile.remove(path) }
    }

    /// By what to know the content that is coming in; nil where nothing does, or where it cannot be gone on with.
    var validator: String? {
        guard let response = response as? HTTPURLResponse, request.httpMethod == "GET" else { return nil }
        return response.rangeValidator
    }

    /// Takes the file out of this task's hands. Nil where nothing of the content is on disk, or nothing tells it apart
    /// from what the server may have by then.
    func resumeData(_ sink: Sink, _ background: BackgroundSession?) -> ResumeData? {
        guard case .file(let file) = sink, file.written > 0, let url = request.url, validator != nil else {
            return unusedResumption(background)
        }
        file.keep()
        // The file leaves the session's folder: the session's records no longer count for it.
        let path = background?.folder?.keep(file.url.path) ?? file.url.path
        return resumeData(file, at: path, fields: request.allHTTPHeaderFields ?? [:], url: url)
    }

    /// What an earlier download has left, if this attempt has not appended to it or removed it.
    private func unusedResumption(_ background: BackgroundSession?) -> ResumeData? {
        guard var unused = resumption, resumed == nil, FileManager.default.fileExists(atPath: unused.path) else {
            return nil
        }
        unused.path = background?.folder?.keep(unused.path) ?? unused.path
        return unused
    }

    /// A failure with what can be gone on from in it. One that is cancelled has it by then, if it was asked for.
    func withResumeData(_ failure: any Error, _ sink: Sink, _ background: BackgroundSession?) -> any Error {
        guard let error = failure as? URLError, error.code != .cancelled,
            let (key, data) = resumeData(for: sink, background)
        else { return failure }
        return error.with(data, for: key)
    }

    /// Returns what a later download goes on from, with what this one has received.
    ///
    /// - Parameter path: where the file will be.
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
