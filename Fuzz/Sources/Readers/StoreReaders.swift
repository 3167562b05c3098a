@testable import URLLoading
@testable import UncurlSemantics

/// What another process, or this one before it was killed, has left on the disk. Each file comes as it is and sealed:
/// what is behind the seal is reached by octets alone no more than once in 2^256 tries.
extension Reader {
    static let stores = [
        Reader("cache-file", of: "URLLoading/Cache/CacheFile") { octets in
            let key = CacheKey(method: "GET", url: "http://a.test/")
            for file in [octets, CacheFile.seal.closed(octets) ?? []] {
                _ = CacheFile.stored(file)
                guard let entry = CacheFile.decode(file, for: key),
                    let written = CacheFile.encode(entry, for: key, stored: Date(timeIntervalSince1970: 1))
                else { continue }
                require(CacheFile.decode(written, for: key)?.data == entry.data, "an entry is written as it was read")
            }
        },
        Reader("cache-notes", of: "URLLoading/Cache/CacheNotes") { octets in
            guard let notes = CacheNotes.decode(octets[...]), let written = CacheNotes.encode(notes) else { return }
            require(CacheNotes.decode(written[...])?.count == notes.count, "notes are written as they were read")
        },
        Reader("journal-record", of: "URLLoading/Background/BackgroundRecord") { octets in
            for file in [octets, BackgroundRecord.seal.closed(octets) ?? []] {
                guard let record = BackgroundRecord(file), let written = record.encoded() else { continue }
                require(BackgroundRecord(written) != nil, "a record that was read can be written and read")
            }
        },
        Reader("cookie-file", of: "URLLoading/Cookies/CookieFile", rest: "the file's lock and place") { octets in
            for file in [octets, SealedJSON.closed(octets)] {
                guard let entries = CookieFile.decode(file), let written = CookieFile.encode(entries) else { continue }
                require(CookieFile.decode(written)?.count == entries.count, "cookies are written as they were read")
            }
        },
        Reader("foundation-cookies", of: "URLLoading/Cookies/CookieFile") { octets in
            _ = FoundationCookieFile.decode(octets, now: 1_700_000_000)
        },
        Reader("credential-file", of: "URLLoading/Credentials/CredentialFile", rest: "the file's lock and place") {
            octets in
            for file in [octets, SealedJSON.closed(octets)] {
                guard let table = CredentialFile.decode(file), let written = CredentialFile.encode(table) else {
                    continue
                }
                require(CredentialFile.decode(written) != nil, "credentials that were read can be written and read")
            }
        },
        Reader("resume-data", of: "URLLoading/Downloads/ResumeData", rest: "the sum of the file") { octets in
            let file = Data(octets)
            guard let data = ResumeData(file) ?? ResumeData(XMLPropertyList.sealed(file)) else { return }
            _ = data.hasPart(of: "/state")
            require(data.received > 0, "what is gone on from is not empty")
            for isSummed in [false, true] { _ = data.isUnread(isSummed: isSummed) }
            if let asked = data.askable { require(0 < asked.received && asked.received <= data.received, "a rest") }
            guard let again = data.data.flatMap({ ResumeData($0) }) else { return }
            require(again.received == data.received && again.path == data.path, "data is written as it was read")
            // The fields of earlier data are taken as a program's are, which drops what no field may hold.
            let fields = again.data.flatMap { ResumeData($0) }?.request.allHTTPHeaderFields
            require(fields == again.request.allHTTPHeaderFields, "a request is written as it was read")
        },
        Reader("upload-resume-data", of: "URLLoading/Uploads/UploadResumeData") { octets in
            guard let data = UploadResumeData(XMLPropertyList.sealed(Data(octets))), let written = data.data else {
                return
            }
            require(UploadResumeData(written) != nil, "resume data that was read can be written and read")
        },
        Reader(
            "data-url",
            of: "URLLoading/LocalLoading/DataURL",
            text: { text in
                guard let url = URL(string: "data:\(text)") else { return }
                _ = DataURL(url)
            }
        ),
        Reader(
            "field-parameters",
            of: "URLLoading/Messages/FieldParameters",
            text: { text in
                let parameters = FieldParameters(text)
                for name in ["charset", "filename", "filename*"] { _ = parameters[name] }
            }
        ),
    ]
}
