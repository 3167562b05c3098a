public import URLLoading

/// Returns the content unchanged. Empty content is a value too.
public struct DataResponseSerializer: ResponseSerializer {
    /// Which answers are acceptable: by default those with the status 200 to 299.
    public var validation: ResponseValidation
    /// Changes the content before it is returned.
    public var preprocessor: ContentPreprocessor

    /// Makes a serializer. Each argument is described at the property of its name.
    public init(validation: ResponseValidation = ResponseValidation(), preprocessor: ContentPreprocessor = .passthrough)
    {
        self.validation = validation
        self.preprocessor = preprocessor
    }

    public func serialize(_ answer: ReceivedResponse) throws -> Data {
        try preprocessor(answer.content())
    }
}

/// Returns the URL of a downloaded file.
public struct FileResponseSerializer: ResponseSerializer {
    /// Which answers are acceptable: by default those with the status 200 to 299.
    public var validation: ResponseValidation

    /// Makes a serializer with this validation.
    public init(validation: ResponseValidation = ResponseValidation()) {
        self.validation = validation
    }

    public func serialize(_ answer: ReceivedResponse) throws -> URL {
        guard let url = answer.fileURL else { throw SerializationFailure(.noFile, answer: answer) }
        return url
    }
}

extension ResponseSerializer where Self == DataResponseSerializer {
    /// The content as `Data`: ``DataResponseSerializer`` with its defaults.
    public static var data: DataResponseSerializer { DataResponseSerializer() }
}

extension ResponseSerializer where Self == FileResponseSerializer {
    /// The `URL` of a downloaded file: ``FileResponseSerializer`` with its defaults.
    public static var file: FileResponseSerializer { FileResponseSerializer() }
}
