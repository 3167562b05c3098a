internal import Foundation
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics

/// How an attempt keeps content on disk, and resumes a download.
extension Attempt {
    /// Returns the attempt that follows this one, which failed because of the network. It keeps the content that has
    /// come, if the server can be asked for the rest.
    ///
    /// - Parameter file: the content that has come in this attempt.
    func anew(_ request: URLRequest, continuing file: DownloadFile?) -> Attempt {
        var resumption = resumption
        if let file {
            let data = resumeData(file, at: file.url.path)
            if data != nil { file.keep() }
            file.finish(keeping: false)
            resumption = data?.askable
        }
        return Attempt(anewAfter: self, request, resuming: resumption)
    }

    /// Makes the file for the answer. In a background session the file is in the session's folder, and the record names
    /// it before the process can end.
    func makeFile(for task: URLSessionTask, _ engine: SessionEngine) throws(URLError) -> DownloadFile {
        let path = engine.background?.freshPart(of: task)
        let file = try DownloadFile(for: request.url, at: path)
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

    /// Continues the download on disk, or removes its file if `read` is nil: then the file
    /// does not hold what was written.
    mutating func resume(from read: ResumeData?) {
        if read == nil { removePart() }
        resumption = read
        machine = machine.anew(resuming: read?.offer)
    }

    /// Removes the file that an earlier attempt has left and that is of no use. One that another task continues from
    /// the same resume data stays.
    func removePart() {
        if let path = resumption?.path { WritableFile.removeUnlessContinued(path) }
    }

    /// The strong validator of the content that is coming in; nil if it has none, or if the download cannot be resumed:
    /// what is missing of a range that the caller has asked for cannot be asked for by its offset in the file.
    var validator: String? {
        // The rest of a download need not repeat the validator with which it was asked for (RFC 9110 §15.3.7).
        if resumed != nil { return resumption?.validator }
        guard request.values.fields?.contains(.range) != true else { return nil }
        guard let response = response as? HTTPURLResponse, request.httpMethod == "GET" else { return nil }
        return response.rangeValidator
    }

    /// Keeps the file beyond the task, and returns its resume data. Nil if nothing of the content is on disk, or if the
    /// content has no validator.
    func resumeData(_ sink: Sink, _ background: BackgroundSession?) -> ResumeData? {
        guard case .file(let file) = sink, file.written > 0, validator != nil else {
            return unusedResumption(background)
        }
        file.keep()
        // The file leaves the session's folder, since the session's record of the task will be removed.
        let path = background?.folder?.keep(file.url.path) ?? file.url.path
        return resumeData(file, at: path)
    }

    /// The part of an earlier download that this attempt has neither continued nor removed.
    private func unusedResumption(_ background: BackgroundSession?) -> ResumeData? {
        guard var unused = resumption, resumed == nil, FileManager.default.fileExists(atPath: unused.path) else {
            return nil
        }
        unused.path = background?.folder?.keep(unused.path) ?? unused.path
        return unused
    }

    /// Returns the failure with the task's resume data. A cancel that asks for resume data has already added them.
    func withResumeData(_ failure: any Error, _ sink: Sink, _ background: BackgroundSession?) -> any Error {
        guard let error = failure as? URLError, error.code != .cancelled,
            let (key, data) = resumeData(for: sink, background)
        else { return failure }
        return error.with(data, for: key)
    }

    /// Returns the resume data of what this download has received.
    ///
    /// - Parameter path: where the file will be.
    private func resumeData(_ file: DownloadFile, at path: String) -> ResumeData? {
        guard file.written > 0, let validator else { return nil }
        var request = request
        if hasLeftOrigin { request.values.hasLeftOrigin = true }
        return ResumeData(
            request: request,
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
