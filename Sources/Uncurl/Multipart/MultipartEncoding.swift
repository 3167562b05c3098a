internal import Glibc
internal import Synchronization
public import URLLoading
internal import UncurlEngine
internal import UncurlReactor

extension MultipartForm {
    /// Encodes the form in memory. Blocks while files and streams are read.
    ///
    /// - Parameter limit: the most bytes of the encoded form, which is as long as its files.
    public func encoded(limit: Int = 10_000_000) throws(MultipartFailure) -> Data {
        if let length = contentLength, length > UInt64(max(0, limit)) { throw .overLimit(limit) }
        let reader = MultipartReader(self)
        var data = Data()
        while true {
            let bytes = try reader.read(atMost: MultipartForm.bite)
            guard !bytes.isEmpty else { return data }
            guard data.count + bytes.count <= limit else { throw .overLimit(limit) }
            data.append(contentsOf: bytes)
        }
    }

    /// Writes the form to a new file, on a thread that may block. An existing file is an error and is left as it is. A
    /// file that could not be written completely, or whose writing was cancelled, is removed.
    ///
    /// - Throws: ``MultipartFailure``, or `CancellationError`.
    public func write(to url: URL) async throws {
        try await write(to: url) { path throws(Errno) in
            let file = try WritableFile(creating: path)
            return MultipartOutput { bytes throws(Errno) in
                try file.write(bytes.span)
            } finish: { () throws(Errno) in
                try file.checkWrites()
            }
        }
    }

    private static let bite = 64 << 10

    /// - Parameter making: opens the new file. Tests pass a file on a disk that fails.
    func write(
        to url: URL,
        making: @escaping @Sendable (String) throws(Errno) -> MultipartOutput
    ) async throws {
        guard url.isFileURL, !url.path.isEmpty else { throw MultipartFailure.outputNotFileURL(url) }
        let isCancelled = Atomic(false)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                do {
                    try ThreadedBody.sharedPool.run {
                        continuation.resume(
                            with: Result { try write(url, making) { isCancelled.load(ordering: .relaxed) } }
                        )
                    }
                } catch {
                    continuation.resume(throwing: MultipartFailure.outputFailed(url, reason: "\(error)"))
                }
            }
        } onCancel: {
            isCancelled.store(true, ordering: .relaxed)
        }
    }

    private func write(
        _ url: URL,
        _ making: (String) throws(Errno) -> MultipartOutput,
        _ isCancelled: () -> Bool
    ) throws {
        let output: MultipartOutput
        do throws(Errno) {
            output = try making(url.path)
        } catch {
            throw error.code == EEXIST
                ? MultipartFailure.outputExists(url) : .outputFailed(url, reason: "\(error)")
        }
        do {
            let reader = MultipartReader(self)
            while true {
                if isCancelled() { throw CancellationError() }
                let bytes = try reader.read(atMost: MultipartForm.bite)
                guard !bytes.isEmpty else { return try output.finish() }
                try output.write(bytes)
            }
        } catch {
            WritableFile.remove(url.path)
            throw (error as? Errno).map { MultipartFailure.outputFailed(url, reason: "\($0)") } ?? error
        }
    }
}

/// The file that a form is written to.
struct MultipartOutput {
    let write: ([UInt8]) throws(Errno) -> Void
    var finish: () throws(Errno) -> Void = {}
}
